// Finds entries of the documentation by words: full text, beginnings of words, misspelt words, and synonyms.

/** Words that people type, and the terms of this documentation with the same meaning. The words find themselves, too. */
const synonyms = `
login signin authenticate authentication authorize = login, access token
logout signout = logout
signup registration join = register
jwt bearer = access token
apikey credential = machines, access token
oauth oidc openid sso saml keycloak auth0 = identity provider
2fa mfa totp passkey = identity provider
user profile member = account, customer
admin backoffice employee merchant operator = staff
role permission authorization acl = scope
ban suspend = block
gdpr privacy dsgvo = erase, personal data
delete remove = erase, archive, cancel
download = export
cart basket checkout purchase buy = place order
chargeback moneyback return = refund
stripe paypal invoice card billing = payment
inventory warehouse oversell overselling = stock
shipment shipping delivery parcel courier = ship, fulfilment
tracking carrier = tracking number
item article goods = product
money decimal euro = currency, price
picture photo = image
variant option colour color size = attribute
throttle throttling throttled quota limit = ratelimit, too many requests
ratelimit = limit request, too many requests, 429
crossorigin frontend spa = cors, origin
origin = cors
callback subscribe subscription notification = event, webhook
queue pubsub kafka amqp sqs = broker, rabbitmq
dlq poison = dead letter
mail mailing newsletter = email
i18n l10n localization translation translate german french = language, locale
timezone date timestamp = utc
sorting orderby = sort
paging pager page infinite = pagination
offset = offset, pagination
where operator condition = filter
fulltext autocomplete typo misspelt stemming = search, searching words
aggregate aggregation = facet
batch bulk upload csv excel spreadsheet feed = import
rerun resend retries = retry, repeat
retry = repeat
duplicate twice exactlyonce = idempotency
conflict concurrency race lock locking optimistic = ifmatch, etag
cache caching cached 304 = etag
exception failure = problem, error
validation = invalid request, fault
snapshot dump recovery = backup, restore
install setup = npm start, start
quickstart tutorial beginner introduction = getting started
deploy deployment production hosting = deploying
container = docker, compose
k8s helm eks gke = kubernetes
ssl certificate letsencrypt = tls, https
nginx caddy traefik loadbalancer ingress cdn = proxy
env config option flag = setting, variable, configuration
update release = upgrade
rollback downgrade = roll back
scale scaling horizontal performance throughput benchmark capacity = growing, replica
ha highavailability standby outage = failover
db sql = database, postgresql
monitor observability dashboard datadog sentry = monitoring, metrics, prometheus
oncall pager incident troubleshoot troubleshooting debug = runbook, alert
logging logfile = logs
opentelemetry otel jaeger tracing = trace
uptime readiness liveness healthcheck = health
slow latency = slow, timeout
rotate rotation rekey = replace secret
cli terminal console = command line
sdk library npm node javascript = client, typescript
swagger schema spec postman insomnia = openapi
versioning breaking compatibility sunset = version, deprecated
sandbox fixture sample = demo, seed
guid identifier = id
changelog whatsnew = changelog
`;

/** Word → the terms with the same meaning, each as a list of words. */
const meanings = new Map();

/** Two words that are one term, with the form that the index has. */
const joined = [
  [/\be[- ]mail/g, 'email'],
  [/\blog(?:ging|s)?[- ]?(in|out)s?\b/g, 'log$1'],
  [/\bsign(?:ing)?[- ]?(in|up|out)s?\b/g, 'sign$1'],
  [/\brate[- ]?limit(?:s|ed|ing)?\b/g, 'ratelimit'],
  [/\bapi[ -]keys?\b/g, 'apikey'],
  [/\btime[ -]?zones?\b/g, 'timezone'],
  [/\btime[ -]?outs?\b/g, 'timeout'],
  [/\bload[ -]balancers?\b/g, 'loadbalancer'],
  [/\bif-(none-)?match\b/g, 'if $1match ifmatch'],
  [/\bback[ -]?office\b/g, 'backoffice'],
  [/\bcross[ -]origin\b/g, 'crossorigin'],
  [/\bset[ -]up\b/g, 'setup'],
  [/\bfull[- ]text/g, 'fulltext'],
  [/\bback(?:s|ed|ing)? up\b/g, 'backup'],
];

/** The words of a text in lower case. A name such as `nextCursor` is a word, and so are its parts. */
export function wordsOf(text) {
  const named = text.replaceAll(
    /\b[a-z]+(?:[A-Z][a-z]+)+\b/g,
    (name) => `${name} ${name.replaceAll(/(?=[A-Z])/g, ' ')}`,
  );
  const plain = joined.reduce((now, [form, word]) => now.replaceAll(form, word), named.toLowerCase());
  return plain.normalize('NFD').match(/[a-z\d]+/g) ?? [];
}

/** A word without the ending of the plural. */
export function stemOf(word) {
  if (word.length < 4 || /(?:ss|us|is)$/.test(word)) return word;
  return word
    .replace(/ies$/, 'y')
    .replace(/(?<=ch|sh|x|ss)es$/, '')
    .replace(/s$/, '');
}

for (const line of synonyms.trim().split('\n')) {
  const [words, terms] = line.split(' = ');
  for (const word of wordsOf(words)) {
    const others = terms.split(', ').map((term) => wordsOf(term).map(stemOf));
    meanings.set(stemOf(word), [...(meanings.get(stemOf(word)) ?? []), ...others]);
  }
}

/**
 * @param MiniSearch the class of the package `minisearch`
 * @param entries with `title`, `page`, `address` and `text`
 * @returns a function from a query to the entries that it finds, the best ones first, each with the `terms` that it has
 */
export function createSearch(MiniSearch, entries) {
  const index = new MiniSearch({
    idField: 'address',
    fields: ['title', 'page', 'text'],
    storeFields: ['title', 'page', 'text'],
    tokenize: wordsOf,
    processTerm: stemOf,
  });
  index.addAll(entries);
  const weights = { prefix: 0.2, fuzzy: 0.15 };
  /** An event lists every member of its data, so it has many words that other pages explain. */
  const boostDocument = (address) => (address.startsWith('/docs/events#') ? 0.5 : 1);
  const options = {
    boostDocument,
    boost: { title: 4, page: 2 },
    weights,
    tokenize: (word) => [word],
    processTerm: (word) => word,
  };

  /** A word of the query, the beginning of one, a misspelt one, or a term with the same meaning. */
  const meaningOf = (word) => ({
    combineWith: 'OR',
    queries: [
      { queries: [word], prefix: word.length > 2, fuzzy: word.length > 4 ? 0.2 : false, maxFuzzy: 2 },
      ...(meanings.get(word) ?? []).map((term) => ({ queries: term, combineWith: 'AND', boostTerm: () => 0.5 })),
    ],
  });

  return (query) => {
    const queries = wordsOf(query).map(stemOf).map(meaningOf);
    if (queries.length === 0) return [];
    const all = index.search({ combineWith: 'AND', queries }, options);
    return all.length > 0 ? all : index.search({ combineWith: 'OR', queries }, options);
  };
}

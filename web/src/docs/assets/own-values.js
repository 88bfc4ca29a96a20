// The reader's values, such as an order's id: kept until the tab is closed, and shown in every example.
const storageKey = 'own-values';
const listeners = [];
const values = readValues();

function readValues() {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey)) ?? {};
  } catch {
    return {};
  }
}

/** The value of a name; undefined until the reader or a response has given it. */
export function ownValue(name) {
  return name === 'origin' ? location.origin : values[name];
}

/** An empty value brings back the example's. */
export function setOwnValue(name, value) {
  if (value === '') delete values[name];
  else values[name] = value;
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(values));
  } catch {
    // The browser keeps no data for this page. The values last as long as the page.
  }
  for (const listener of listeners) listener();
}

/** Calls the listener now and after each change. */
export function onOwnValues(listener) {
  listeners.push(listener);
  listener();
}

/** A text with marks, such as the template of a body, with the reader's values. */
export function withOwnValues(template, examples) {
  return template.replaceAll(/OWN_([A-Za-z]+)_VALUE/g, (mark, name) => ownValue(name) ?? examples.get(name) ?? mark);
}

// Sends the token of an e-mail. It is in the fragment of the address, which browsers do not send.
const form = document.getElementById('use-token');
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';

async function send() {
  const body = JSON.stringify({ token, ...Object.fromEntries(new FormData(form)) });
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(form.dataset.path, { method: 'POST', headers, body });
  if (response.ok) return form.dataset.done;
  const { detail, errors = [] } = await response.json();
  return [detail, ...errors.map((error) => error.detail)].join(' ');
}

if (token === '') {
  form.querySelector('button').disabled = true;
  document.getElementById('result').textContent = 'The address has no token. Open the link of the e-mail.';
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const result = document.getElementById('result');
  result.textContent = await send().catch(() => 'The shop did not answer. Try again.');
});

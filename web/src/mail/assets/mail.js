// Sends the token of an e-mail. It is in the fragment of the address, which browsers do not send.
const form = document.getElementById('use-token');
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';

async function send() {
  const body = JSON.stringify({ token, ...Object.fromEntries(new FormData(form)) });
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(form.dataset.path, { method: 'POST', headers, body });
  if (response.ok) return show('success', form.dataset.done);
  const { detail } = await response.json();
  return show('danger', detail);
}

function show(state, text) {
  const result = document.getElementById('result');
  result.className = `notice ${state}`;
  result.textContent = text;
}

if (token === '') {
  form.querySelector('button').disabled = true;
  show('warning', 'The address has no token. Open the link of the e-mail.');
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  await send().catch(() => show('danger', 'The shop did not answer. Try again.'));
});

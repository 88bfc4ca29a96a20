// Starts the interactive reference on the published document.
const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
paint();
dark.addEventListener('change', paint);

const ui = SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  tryItOutEnabled: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  queryConfigEnabled: false,
  validatorUrl: null,
  // After a log-in on this page its access token is used automatically.
  responseInterceptor(response) {
    if (response.ok && new URL(response.url, location.href).pathname === '/v1/tokens') {
      ui.preauthorizeApiKey('bearer', JSON.parse(response.text).access_token);
    }
    return response;
  },
});

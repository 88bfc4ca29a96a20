// Stock express-gateway with its own start, its own jwt and proxy policies, and reduced logging.
process.env.LOG_LEVEL = 'error';
const { join } = require('node:path');

require('express-gateway')()
  .load(process.env.EG_CONFIG_DIR ?? join(__dirname, 'config'))
  .run();

// Each event takes effect once, on a real RabbitMQ.
import { consumeSuite } from './consume-suite.ts';

consumeSuite('rabbitmq');

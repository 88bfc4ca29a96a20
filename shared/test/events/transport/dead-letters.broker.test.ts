// The dead letters as operators see them, on a real RabbitMQ.
import { deadLettersSuite } from './dead-letters-suite.ts';

deadLettersSuite('rabbitmq');

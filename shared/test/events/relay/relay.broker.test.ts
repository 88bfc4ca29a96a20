// The relay, on a real RabbitMQ.
import { relaySuite } from './relay-suite.ts';

relaySuite('rabbitmq');

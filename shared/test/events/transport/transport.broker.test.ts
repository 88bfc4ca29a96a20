// The guarantees of every transport, on a real RabbitMQ.
import { transportSuite } from './transport-suite.ts';

transportSuite('rabbitmq');

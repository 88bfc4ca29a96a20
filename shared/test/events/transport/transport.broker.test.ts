// What every transport promises, on a real RabbitMQ.
import { transportSuite } from './transport-suite.ts';

transportSuite('rabbitmq');

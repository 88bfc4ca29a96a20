// A failover of the one server of all services, with the queue of events in RabbitMQ.
import { oneServerSuite } from './one-server-suite.ts';

oneServerSuite('rabbitmq');

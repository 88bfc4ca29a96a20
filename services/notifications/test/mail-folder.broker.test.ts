// From the event to the .eml file and the event back, on a real RabbitMQ.
import { mailFolderSuite } from './mail-folder-suite.ts';

mailFolderSuite('rabbitmq');

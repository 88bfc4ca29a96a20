// From the event to the .eml file and the event that reports it, on RabbitMQ.
import { mailFolderSuite } from './mail-folder-suite.ts';

mailFolderSuite('rabbitmq');

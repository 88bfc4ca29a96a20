// The path from an event to its .eml file, and to the event that reports the e-mail, over RabbitMQ.
import { mailFolderSuite } from './mail-folder-suite.ts';

mailFolderSuite('rabbitmq');

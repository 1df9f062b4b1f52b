/** The schema: an import of each noun, in the order of the platform's description. */
import './scalars.ts';
import './node.ts';
import './stubs.ts';
import './viewer.ts';
import './project.ts';
import './topic.ts';
import { builder } from './builder.ts';

export const schema = builder.toSchema();

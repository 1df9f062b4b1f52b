/** The tools that every caller has, in the order in which an agent needs them. */
import type { Tool } from '../tool.ts';
import { describeObject } from './describe-object-tool.ts';
import { getOperation } from './get-operation-tool.ts';
import { readRecords } from './read-records-tool.ts';
import { searchObjects } from './search-objects-tool.ts';

export const TOOLS: readonly Tool[] = [searchObjects, describeObject, readRecords, getOperation];

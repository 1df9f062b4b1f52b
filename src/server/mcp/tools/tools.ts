/** The tools that every caller has, in the order in which an agent needs them. */
import type { Tool } from '../tool.ts';
import { commitWrite } from './commit-write-tool.ts';
import { describeObject } from './describe-object-tool.ts';
import { getOperation } from './get-operation-tool.ts';
import { getProposal } from './get-proposal-tool.ts';
import { proposeWrite } from './propose-write-tool.ts';
import { readRecords } from './read-records-tool.ts';
import { searchObjects } from './search-objects-tool.ts';

export const TOOLS: readonly Tool[] = [
  searchObjects,
  describeObject,
  readRecords,
  proposeWrite,
  getProposal,
  commitWrite,
  getOperation,
];

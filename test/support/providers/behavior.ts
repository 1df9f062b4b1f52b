import type { Behavior } from '../../../src/providers/behavior.ts';

/** The vendor documents only how its filter compares times. */
export const UNDOCUMENTED: Behavior = {
  shortPage: 'notDocumented',
  timeFilter: { precision: 'format', zone: 'utc', bounds: 'inclusive', column: 'changedAt' },
  visibility: 'notDocumented',
  expiredCursor: 'notDocumented',
  depthLimit: 'notDocumented',
  fieldsMax: 'notDocumented',
  urlBytesMax: 'notDocumented',
  nestedLists: 'notDocumented',
  rateLimits: 'notDocumented',
};

/** Describes how reads of a declared provider behave, for its page: one sentence for each member that matters. */
import { type Behavior, getReadTiming } from '../../src/providers/behavior.ts';
import type {
  Declaration,
  ObjectDeclaration,
} from '../../src/providers/declarative/declaration/declaration.ts';
import type { ListDeclaration } from '../../src/providers/declarative/declaration/list-declaration.ts';
import type { BehavingList } from '../../src/providers/declarative/reading/paging.ts';
import { getBehavior } from '../../src/providers/declarative/vendor.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/work/durations.ts';

/** Returns a section. A sentence that is true for some objects only begins with their names. */
export function describeReads(declaration: Declaration): string {
  const { objects, otherObjects } = declaration;
  const sentencesByObject = new Map([
    ...Object.entries(objects).map(
      ([name, object]) => [`\`${name}\``, listSentences(declaration, object)] as const,
    ),
    ...(otherObjects
      ? [['any other object', listSentences(declaration, otherObjects)] as const]
      : []),
  ]);
  const sentences = new Set([...sentencesByObject.values()].flat());
  const lines = [...sentences].map((sentence) => {
    const names = [...sentencesByObject].filter(([, list]) => list.includes(sentence));
    const subject = names.map(([name]) => name).join(', ');
    return names.length === sentencesByObject.size ? `- ${sentence}` : `- ${subject}: ${sentence}`;
  });
  const promise =
    '[What a read promises](README.md#what-a-read-promises) is the same for all providers. In addition, reads of this vendor behave as follows:';
  return `## Reads\n\n${promise}\n\n${lines.join('\n')}`;
}

function listSentences(declaration: Declaration, object: ObjectDeclaration): string[] {
  const { list, incrementalList } = object;
  const lists = [list, ...(incrementalList ? [incrementalList] : [])].map(
    (candidate): BehavingList => ({ ...candidate, behavior: getBehavior(declaration, candidate) }),
  );
  const changesList = lists.at(-1);
  return [
    ...(changesList ? describeChanges(changesList, object) : []),
    ...new Set(lists.flatMap(describePages)),
    ...new Set(lists.flatMap(({ behavior }) => describeNestedLists(behavior))),
    ...describeRateLimits(declaration.behavior),
  ];
}

/** Describes when a scheduled read returns a change. Empty if each read returns all records. */
function describeChanges(
  { behavior, since, until }: BehavingList,
  { changedAt }: ObjectDeclaration,
): string[] {
  if (!changedAt && !since) return [];
  return [...describeVisibility(behavior), ...(since || until ? describeFilter(behavior) : [])];
}

function describeVisibility(behavior: Behavior): string[] {
  const { settleMs, lookBackMs } = getReadTiming(behavior);
  const age = `A scheduled read returns changes that are at least ${formatDuration(settleMs)} old.`;
  if (lookBackMs === 0) return [age];
  const period = formatDuration(lookBackMs).replace(/^1 /, '');
  const reason =
    behavior.visibility === 'notDocumented'
      ? 'The vendor does not document how late a change appears in its lists.'
      : 'Some changes appear later than others.';
  return [
    `${age} ${reason} Each read also requests the last ${period} of the previous one, and skips what was delivered. A change that appears later is missed.`,
  ];
}

function describeFilter({ timeFilter }: Behavior): string[] {
  if (timeFilter === 'none') return [];
  const { precision, zone, column } = timeFilter;
  const precisions: Record<typeof precision, string[]> = {
    format: [],
    minute: ["The vendor's filter compares minutes. The gateway drops records outside the window."],
    day: ["The vendor's filter compares days. The gateway drops records outside the window."],
    notDocumented: [
      "The precision of the vendor's filter is not documented. The gateway requests whole days and drops records outside the window.",
    ],
  };
  const zones: Record<typeof zone, string[]> = {
    utc: [],
    notDocumented: [
      "The time zone of the vendor's filter is uncertain. The gateway requests 14 hours more at both ends and drops records outside the window.",
    ],
  };
  const columns: Record<typeof column, string[]> = {
    changedAt: [],
    other: [
      "The vendor decides which records changed. Their time of change may be before the read's window.",
    ],
    notDocumented: [
      'The time that the vendor compares is not documented. All records that it returns are delivered.',
    ],
  };
  return [...precisions[precision], ...zones[zone], ...columns[column]];
}

/** Describes what ends a list, and the limits of its requests. */
function describePages(list: BehavingList): string[] {
  return [
    ...describeShortPages(list),
    ...describeExpiry(list),
    ...describeDepth(list),
    ...describeFields(list),
  ];
}

/** True if each page says whether another one follows. */
function hasSign({ paging, total, totalHeader }: ListDeclaration): boolean {
  const signs = ['hasMore', 'isLastPage', 'pageCount', 'nextHeader'];
  return (
    ['cursor', 'nextUrl', 'link', 'none'].includes(paging.kind) ||
    (total ?? totalHeader) !== undefined ||
    Object.entries(paging).some(([name, value]) => signs.includes(name) && value !== undefined)
  );
}

function describeShortPages(list: BehavingList): string[] {
  const { shortPage } = list.behavior;
  if (shortPage === 'hidden') {
    const hidden = 'The vendor hides records that the account may not see, so pages may be short.';
    return hasSign(list)
      ? [`${hidden} The gateway reads on until the vendor's total.`]
      : [`${hidden} A read ends at the first page whose records are all hidden.`];
  }
  if (hasSign(list) || shortPage === 'last') return [];
  return [
    'Whether a short page is the last one is not documented. The gateway reads on until a page is empty.',
  ];
}

/** True if each page is requested from the last record. Such a list needs no cursors, and its length is not limited. */
function isKeyset({ isKeysetPaged, afterId }: ListDeclaration): boolean {
  return isKeysetPaged || afterId !== undefined;
}

function describeExpiry(list: BehavingList): string[] {
  const { expiredCursor } = list.behavior;
  if (list.paging.kind === 'none' || isKeyset(list)) return [];
  if (Array.isArray(expiredCursor)) return ['If a cursor expires, the read starts again.'];
  if (expiredCursor !== 'notDocumented') return [];
  return [
    'Whether cursors expire is not documented. If the vendor refuses a later page, the read starts again.',
  ];
}

function describeDepth(list: BehavingList): string[] {
  const { depthLimit } = list.behavior;
  if (depthLimit === 'none' || list.paging.kind === 'none') return [];
  if (depthLimit === 'notDocumented') {
    if (isKeyset(list)) return [];
    return ['A maximum length of lists is not documented. If there is one, longer reads fail.'];
  }
  const limit = `The vendor's list ends after ${depthLimit.records.toLocaleString('en-US')} records.`;
  const continuations = {
    keyset: 'The gateway requests pages from the last record, so reads have no such limit.',
    deepList: 'The gateway then reads another list, which repeats records.',
    fails: 'Longer reads fail.',
  };
  return [`${limit} ${continuations[depthLimit.beyond]}`];
}

function describeFields({ selectedFields, behavior }: BehavingList): string[] {
  if (!selectedFields) return [];
  const { fieldsMax, urlBytesMax } = behavior;
  const limits = [
    ...(typeof fieldsMax === 'number' ? [`names at most ${fieldsMax} fields`] : []),
    ...(selectedFields.in === 'query' && urlBytesMax !== 'none'
      ? ['has a URL of limited length']
      : []),
  ];
  if (limits.length === 0) return [];
  const consequence = selectedFields.returnsAllByDefault
    ? 'Requests for more fields name none, and the vendor returns all.'
    : 'Reads of more fields send several requests for each page.';
  return [`A request ${limits.join(' and ')}. ${consequence}`];
}

function describeNestedLists({ nestedLists }: Behavior): string[] {
  if (nestedLists === 'complete') return [];
  if (nestedLists === 'notDocumented') {
    return ['Whether lists inside records are complete is not documented.'];
  }
  return nestedLists.map(({ at, itemsMax, otherItems }) => {
    if (at === '/*') return 'Fields that contain lists are not read. They are absent from records.';
    const count = itemsMax === undefined ? 'only the first items' : `at most ${itemsMax} items`;
    const others =
      otherItems === 'read'
        ? 'The gateway reads the other items if the field is selected.'
        : 'The other items are missing.';
    return `The vendor returns ${count} of \`${at}\`. ${others}`;
  });
}

function describeRateLimits({ rateLimits }: Behavior): string[] {
  if (typeof rateLimits === 'string') return [];
  const responses = rateLimits
    .filter(({ contains, header }) => contains ?? header)
    .map(({ status, contains, header }) =>
      [
        ...(status ? [`status ${status}`] : ['any status']),
        ...(contains ? [`the text \`${contains}\``] : []),
        ...(header ? [`the header \`${formatHeader(header)}\``] : []),
      ].join(' and '),
    );
  if (responses.length === 0) return [];
  return [`The gateway also waits after these responses: ${responses.join('; ')}.`];
}

function formatHeader({ name, value }: { name: string; value?: string }): string {
  return value === undefined ? name : `${name}: ${value}`;
}

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
] as const;

function formatDuration(ms: number): string {
  const [unit, unitMs] = UNITS.find((candidate) => ms % candidate[1] === 0) ?? ['second', 1000];
  const count = ms / unitMs;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

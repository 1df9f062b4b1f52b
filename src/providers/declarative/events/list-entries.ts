/** The entries of a list of changes: what each says, and whether some before it were forgotten. */
import type { ProviderAnswer, ProviderSession } from '../../contract.ts';
import { ProviderError } from '../../provider-error.ts';
import type { ListPart, ListPosition, ProviderEvent } from '../../subscribing.ts';
import { ask } from '../ask.ts';
import type { EventListDeclaration } from '../declaration/event-list-declaration.ts';
import type { Vendor } from '../failure.ts';
import { isObject, valueAt } from '../json.ts';
import { fillPath } from '../template.ts';
import { readTime } from '../times.ts';

/** Of an entry, where none was read. */
const FIRST = 1;

type Entries = EventListDeclaration['entries'];

export async function readEntries(
  vendor: Vendor,
  entries: Entries,
  { session, place }: { session: ProviderSession; place: ListPosition },
): Promise<ListPart> {
  const { from, size } = entries;
  const { position, providerRef } = place;
  const path = fillPath(entries.path, { ref: providerRef }, session);
  const query = { ...(position !== null && { [from]: position }), [size.name]: String(size.max) };
  const answer = await ask(vendor, session, { method: 'GET', path, query });
  const next = valueAt(answer.body, entries.next);
  const all = valueAt(answer.body, entries.records);
  if (!Number.isSafeInteger(next) || !Array.isArray(all)) {
    throw notAnswered(answer, 'what has changed, and where it goes on');
  }
  const first = Number(next) - all.length;
  const read = all.map((entry: unknown, n) => {
    const time = readTime(valueAt(entry, entries.time.at), entries.time.format);
    if (!isObject(entry) || !time) throw notAnswered(answer, 'when something has changed');
    return { entry, time, number: first + n };
  });
  const untold = read.filter(({ entry }, n) => {
    const isForgotten = n === 0 && first > Number(position ?? FIRST);
    return isForgotten || valueAt(entry, entries.untold) != null;
  });
  return {
    events: read.flatMap((one) => eventsIn(entries, one, place)),
    position: String(next),
    // One that stands still has no more, whatever it says.
    hasMore: valueAt(answer.body, entries.hasMore) === true && String(next) !== position,
    lastTime: read.at(-1)?.time ?? null,
    incompleteUntil: untold.at(-1)?.time ?? null,
  };
}

function notAnswered({ status }: ProviderAnswer, what: string): ProviderError {
  return new ProviderError('DISCONNECTED', `The answer does not say ${what}`, { status });
}

interface Entry {
  entry: Record<string, unknown>;
  time: Date;
  number: number;
}

function eventsIn(
  { objects, changes }: Entries,
  { entry, time, number }: Entry,
  { account, providerRef }: ListPosition,
): ProviderEvent[] {
  const named = entry[objects];
  if (!isObject(named)) return [];
  return Object.entries(named).flatMap(([objectName, object]) =>
    Object.entries(changes).flatMap(([nativeType, kind]) =>
      recordsIn(isObject(object) ? object[nativeType] : null).map(([recordId, told]) => ({
        // An entry keeps its number: read again it is the same.
        nativeId: [providerRef, number, kind, recordId].join('.'),
        account,
        objectName,
        recordId,
        kind,
        nativeType,
        time,
        changedFields: [],
        record: null,
        association: null,
        raw: { ...entry, [objects]: { [objectName]: { [nativeType]: told } } },
      })),
    ),
  );
}

/** Each with what is told of it alone. */
function recordsIn(changed: unknown): [id: string, told: unknown][] {
  if (isObject(changed)) return Object.entries(changed).map(([id, told]) => [id, { [id]: told }]);
  const ids = Array.isArray(changed) ? changed.filter((id) => typeof id === 'string') : [];
  return ids.map((id) => [id, [id]]);
}

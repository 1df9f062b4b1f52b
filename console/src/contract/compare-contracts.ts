/** Compares two contracts, and describes each difference. */
import { type FieldContract, formatType, type ObjectContract } from './contract-table.tsx';

export interface ContractDifference {
  /** The path of the difference: `object` or `object.field`. */
  path: string;
  change: string;
}

type Objects = readonly ObjectContract[];

export function compareContracts(from: Objects, to: Objects): ContractDifference[] {
  return pairByName(from, to).flatMap(({ name, before, after }) => {
    if (!before) return [{ path: name, change: 'is a new object' }];
    if (!after) return [{ path: name, change: 'is removed' }];
    return [
      ...compareVerbs(before, after).map((change) => ({ path: name, change })),
      ...pairByName(before.fields, after.fields).flatMap((pair) =>
        compareFields(pair.before, pair.after).map((change) => ({
          path: `${name}.${pair.name}`,
          change,
        })),
      ),
    ];
  });
}

interface Pair<T> {
  name: string;
  before: T | undefined;
  after: T | undefined;
}

/** Pairs the items of both lists in the order of the second one, with removed items at the end. */
function pairByName<T extends { name: string }>(from: readonly T[], to: readonly T[]): Pair<T>[] {
  const findByName = (items: readonly T[], name: string) =>
    items.find((item) => item.name === name);
  const names = new Set([...to, ...from].map(({ name }) => name));
  return [...names].map((name) => ({
    name,
    before: findByName(from, name),
    after: findByName(to, name),
  }));
}

const VERB_PHRASES: Record<string, string> = {
  LIST: 'be listed',
  SEARCH: 'be searched',
  READ_BY_ID: 'be read by ID',
  CREATE: 'be created',
  UPDATE: 'be updated',
  DELETE: 'be deleted',
  SUBSCRIBE: 'be subscribed to',
};

function compareVerbs(before: ObjectContract, after: ObjectContract): string[] {
  const added = after.verbs.filter((verb) => !before.verbs.includes(verb));
  const removed = before.verbs.filter((verb) => !after.verbs.includes(verb));
  return [
    ...added.map((verb) => `can ${VERB_PHRASES[verb]}`),
    ...removed.map((verb) => `can no longer ${VERB_PHRASES[verb]}`),
  ];
}

function compareFields(
  before: FieldContract | undefined,
  after: FieldContract | undefined,
): string[] {
  if (!before) return [after?.isRequired ? 'is a new field, required in writes' : 'is a new field'];
  if (!after) return ['is removed'];
  const texts: string[] = [];
  const [oldType, newType] = [formatType(before), formatType(after)];
  if (oldType !== newType) texts.push(`changes its type from ${oldType} to ${newType}`);
  if (before.providerField !== after.providerField) {
    texts.push(
      after.providerField === null
        ? 'is now mapped by each installation'
        : `now maps to the provider field ${after.providerField}`,
    );
  }
  if (before.isAlwaysRead !== after.isAlwaysRead) {
    texts.push(
      after.isAlwaysRead ? 'becomes present in every record' : 'may be absent from records',
    );
  }
  if (before.isRequired !== after.isRequired) {
    texts.push(after.isRequired ? 'becomes required in writes' : 'becomes optional in writes');
  }
  if (before.isReadOnly !== after.isReadOnly) {
    texts.push(after.isReadOnly ? 'becomes read-only' : 'can be written');
  }
  if (before.isWriteOnly !== after.isWriteOnly) {
    texts.push(after.isWriteOnly ? 'is no longer returned by reads' : 'is now returned by reads');
  }
  return texts;
}

/** Reads the types of fields that the connected accounts of a project had. */
import { createHash } from 'node:crypto';
import type { Database } from '../../database/database.ts';
import type { FieldValueType, Provider } from '../../providers/contract.ts';
import { findModule } from '../../providers/modules.ts';
import { DAY_MS } from '../../work/durations.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';

export interface LearnedField {
  valueType: FieldValueType;
  /** True if no account could write the field. */
  readOnly: boolean;
  /** True if every account required the field. */
  required: boolean;
}

/** The types of an integration's fields, by the provider's names of objects and of their fields. */
export type LearnedFields = ReadonlyMap<string, ReadonlyMap<string, readonly LearnedField[]>>;

export const NOTHING_LEARNED: LearnedFields = new Map();

/** A type counts if an account had it at most this long before the latest account that had any type of the field. */
const CURRENT_MS = 30 * DAY_MS;

/** The name under which facts about a provider's module are stored. */
export function moduleKey(provider: Provider, module: string | null): string {
  return findModule(provider, module)?.name ?? '';
}

interface Source {
  projectId: string;
  /** The provider of the catalogue. Null if it is no longer there: nothing is known then. */
  provider: Provider | null;
  content: IntegrationContent;
}

/** Facts about the fields that a manifest names, and a digest that changes with them. */
export interface Learned {
  fields: LearnedFields;
  digest: string;
}

/** Returns the facts for each source, in order. It reads them in one statement. */
export async function findLearned(
  { prisma }: Pick<Database, 'prisma'>,
  sources: readonly Source[],
): Promise<Learned[]> {
  const providers = new Set(sources.flatMap(({ provider }) => provider?.name ?? []));
  const named = sources.map(({ content }) => namedFields(content));
  if (providers.size === 0) return sources.map(() => groupByObject([]));
  const rows = await prisma.learnedField.findMany({
    where: {
      projectId: { in: [...new Set(sources.map(({ projectId }) => projectId))] },
      provider: { in: [...providers] },
      objectName: { in: distinct(named.map(({ objects }) => objects)) },
      fieldName: { in: distinct(named.map(({ fields }) => fields)) },
    },
    orderBy: [{ objectName: 'asc' }, { fieldName: 'asc' }, { valueType: 'asc' }],
  });
  const groups = Map.groupBy(rows, ({ projectId, provider, module }) =>
    JSON.stringify([projectId, provider, module]),
  );
  return sources.map(({ projectId, provider, content }, index) => {
    const module = provider && moduleKey(provider, content.module);
    const key = JSON.stringify([projectId, provider?.name, module]);
    const { objects, fields } = named[index] as NamedFields;
    const ownFields = (groups.get(key) ?? []).filter(
      ({ objectName, fieldName }) => objects.has(objectName) && fields.has(fieldName),
    );
    return groupByObject(ownFields);
  });
}

interface Row extends Omit<LearnedField, 'valueType'> {
  objectName: string;
  fieldName: string;
  valueType: string;
  lastSeenTime: Date;
}

function groupByObject(rows: readonly Row[]): Learned {
  const objects = new Map<string, Map<string, LearnedField[]>>();
  const facts: unknown[] = [];
  for (const [objectName, ofObject] of Map.groupBy(rows, (row) => row.objectName)) {
    const fields = new Map<string, LearnedField[]>();
    for (const [fieldName, types] of Map.groupBy(ofObject, (row) => row.fieldName)) {
      const latest = Math.max(...types.map(({ lastSeenTime }) => lastSeenTime.getTime()));
      const current = types.filter(({ lastSeenTime: at }) => at.getTime() >= latest - CURRENT_MS);
      const learned = current.map(({ valueType, readOnly, required }) => ({
        valueType: valueType as FieldValueType,
        readOnly,
        required,
      }));
      fields.set(fieldName, learned);
      facts.push(objectName, fieldName, learned);
    }
    objects.set(objectName, fields);
  }
  const digest = createHash('sha256').update(JSON.stringify(facts)).digest('base64url');
  return { fields: objects, digest };
}

interface NamedFields {
  objects: ReadonlySet<string>;
  fields: ReadonlySet<string>;
}

/** The provider's names in a manifest. A field's name in lower case is the name that some providers describe. */
function namedFields({ read, write }: IntegrationContent): NamedFields {
  const reads = read?.objects ?? [];
  const fields = reads.flatMap(({ requiredFields, optionalFields }) =>
    [...requiredFields, ...optionalFields].flatMap(({ fieldName }) =>
      fieldName === null ? [] : [fieldName, fieldName.toLowerCase()],
    ),
  );
  const objects = [...reads, ...(write?.objects ?? [])].map(({ objectName }) => objectName);
  return { objects: new Set(objects), fields: new Set(fields) };
}

function distinct(sets: readonly ReadonlySet<string>[]): string[] {
  return [...new Set(sets.flatMap((set) => [...set]))];
}

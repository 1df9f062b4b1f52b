/** Reads the field types that were learned from a project's connected accounts. */
import { hash } from 'node:crypto';
import type { Database } from '../../../database/open/database.ts';
import type { FieldValueType, Provider } from '../../../providers/contract.ts';
import { toModuleKey } from '../../../providers/modules.ts';
import { DAY_MS } from '../../../work/durations.ts';
import type { IntegrationContent } from '../../integrations/integration/integration-content.ts';

export interface LearnedType {
  valueType: FieldValueType;
  /** True if no account could write the field. */
  readOnly: boolean;
  /** True if every account required the field. */
  required: boolean;
}

/** The types of an integration's fields, by the provider's object and field names. */
export type LearnedFields = ReadonlyMap<string, ReadonlyMap<string, readonly LearnedType[]>>;

/**
 * A type is current if an account reported it at most 30 days before the field's latest description. A field that accounts
 * no longer describe therefore keeps its types.
 */
const CURRENT_PERIOD_MS = 30 * DAY_MS;

interface LearnedManifest {
  projectId: string;
  /** Null if the provider is no longer in the catalog. The source then has no types. */
  provider: Provider | null;
  content: IntegrationContent;
}

/** The types of the fields that a manifest names, and a digest that changes with them. */
export interface ManifestTypes {
  fields: LearnedFields;
  digest: string;
}

/** Finds the types of all sources with one statement, and returns them in the order of the sources. */
export async function loadLearnedTypes(
  { prisma }: Pick<Database, 'prisma'>,
  sources: readonly LearnedManifest[],
): Promise<ManifestTypes[]> {
  const providers = new Set(sources.flatMap(({ provider }) => provider?.name ?? []));
  const namesBySource = sources.map(({ content }) => listNamedFields(content));
  if (providers.size === 0) return sources.map(() => toManifestTypes([]));
  const rows = await prisma.learnedField.findMany({
    where: {
      projectId: { in: [...new Set(sources.map(({ projectId }) => projectId))] },
      provider: { in: [...providers] },
      objectName: { in: mergeSets(namesBySource.map(({ objects }) => objects)) },
      fieldName: { in: mergeSets(namesBySource.map(({ fields }) => fields)) },
    },
    orderBy: [{ objectName: 'asc' }, { fieldName: 'asc' }, { valueType: 'asc' }],
  });
  const rowsByModule = Map.groupBy(rows, ({ projectId, provider, module }) =>
    JSON.stringify([projectId, provider, module]),
  );
  return sources.map(({ projectId, provider, content }, index) => {
    const module = provider && toModuleKey(provider, content.module);
    const key = JSON.stringify([projectId, provider?.name, module]);
    const { objects, fields } = namesBySource[index] as NamedFields;
    const namedRows = (rowsByModule.get(key) ?? []).filter(
      ({ objectName, fieldName }) => objects.has(objectName) && fields.has(fieldName),
    );
    return toManifestTypes(namedRows);
  });
}

interface LearnedRow extends Omit<LearnedType, 'valueType'> {
  objectName: string;
  fieldName: string;
  valueType: string;
  lastSeenTime: Date;
}

function toManifestTypes(rows: readonly LearnedRow[]): ManifestTypes {
  const fieldsByObject = new Map<string, Map<string, LearnedType[]>>();
  const digestInput: unknown[] = [];
  for (const [objectName, objectRows] of Map.groupBy(rows, (row) => row.objectName)) {
    const fields = new Map<string, LearnedType[]>();
    for (const [fieldName, types] of Map.groupBy(objectRows, (row) => row.fieldName)) {
      const lastSeenMs = Math.max(...types.map(({ lastSeenTime }) => lastSeenTime.getTime()));
      const currentTypes = types
        .filter(({ lastSeenTime }) => lastSeenTime.getTime() >= lastSeenMs - CURRENT_PERIOD_MS)
        .map(({ valueType, readOnly, required }) => ({
          valueType: valueType as FieldValueType,
          readOnly,
          required,
        }));
      fields.set(fieldName, currentTypes);
      digestInput.push(objectName, fieldName, currentTypes);
    }
    fieldsByObject.set(objectName, fields);
  }
  const digest = hash('sha256', JSON.stringify(digestInput), 'base64url');
  return { fields: fieldsByObject, digest };
}

interface NamedFields {
  objects: ReadonlySet<string>;
  fields: ReadonlySet<string>;
}

/**
 * Lists the provider's names in a manifest. Also lists each field in lower case, because some providers describe fields
 * that way.
 */
function listNamedFields({ read, write }: IntegrationContent): NamedFields {
  const readObjects = read?.objects ?? [];
  const fields = readObjects.flatMap(({ requiredFields, optionalFields }) =>
    [...requiredFields, ...optionalFields].flatMap(({ fieldName }) =>
      fieldName === null ? [] : [fieldName, fieldName.toLowerCase()],
    ),
  );
  const objects = [...readObjects, ...(write?.objects ?? [])].map(({ objectName }) => objectName);
  return { objects: new Set(objects), fields: new Set(fields) };
}

function mergeSets(sets: readonly ReadonlySet<string>[]): string[] {
  return [...new Set(sets.flatMap((set) => [...set]))];
}

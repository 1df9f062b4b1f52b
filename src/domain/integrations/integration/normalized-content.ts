/** Converts checked content to its stored form, which has the provider's names of objects, and each field once. */

import { member, type Text, text } from '../../../kernel/text.ts';
import type { Provider } from '../../../providers/contract.ts';
import { applyModule, findModule } from '../../../providers/modules.ts';
import { resolveObjectName } from '../../../providers/object-support.ts';
import type { Call, ProjectCall } from '../../access/call.ts';
import { printTexts } from '../../base/stored-text.ts';
import { getDeliveredName } from '../installation/choice/mapped-names.ts';
import { listSubscribeWarnings } from './integration-capability-check.ts';
import type { FieldMapping, IntegrationContent } from './integration-content.ts';
import { listSpellingWarnings } from './spelling-check.ts';

const FIELD_LISTS = ['requiredFields', 'optionalFields'] as const;

interface NormalizedContent {
  content: IntegrationContent;
  /** Sentences that name each omitted field, each event that the provider can't send, and each misspelled name. */
  warnings: Text[];
}

/** Converts the content to its stored form. The warnings are for the caller. */
export function normalizeContent(
  call: Pick<ProjectCall, 'log' | 'catalog'>,
  content: IntegrationContent,
  path: readonly PropertyKey[],
): NormalizedContent {
  const provider = call.catalog.find(content.provider);
  const contentWithoutAliases = replaceAliases(content, provider);
  const normalizedContent = dropRepeatedFields(call, contentWithoutAliases, path);
  const { module } = normalizedContent.content;
  const moduleProvider = provider && applyModule(provider, module ?? null);
  if (!moduleProvider) return normalizedContent;
  const warnings = [
    ...normalizedContent.warnings,
    ...listSubscribeWarnings(normalizedContent.content, path, moduleProvider),
    // Paths of fields are those of the input, in which repeated fields have positions.
    ...listSpellingWarnings(contentWithoutAliases, path, moduleProvider),
  ];
  return { ...normalizedContent, warnings };
}

/** Drops fields that the manifest repeats later, as the reference API does, and logs them. */
export function dropRepeatedFields(
  { log }: Pick<Call, 'log'>,
  content: IntegrationContent,
  path: readonly PropertyKey[],
): NormalizedContent {
  if (!content.read) return { content, warnings: [] };
  const warnings: Text[] = [];
  const objects = content.read.objects.map((object, index) => {
    const repeats = listRepeatedFields(object);
    for (const repeat of repeats) {
      const field = member(...path, 'read', 'objects', index, repeat.list, repeat.index);
      warnings.push(text`${field}: is omitted, because ${repeat.reason} again later.`);
    }
    const isKept = (field: FieldMapping) => !repeats.some((repeat) => repeat.field === field);
    return {
      ...object,
      requiredFields: object.requiredFields.filter(isKept),
      optionalFields: object.optionalFields.filter(isKept),
    };
  });
  if (warnings.length > 0) {
    log.warn({ warnings: printTexts({}, warnings) }, 'manifest.fields_replaced');
  }
  return { content: { ...content, read: { objects } }, warnings };
}

/** Lists the fields that a later field replaces, in the order of the lists. */
function listRepeatedFields(object: Record<(typeof FIELD_LISTS)[number], FieldMapping[]>) {
  const fields = FIELD_LISTS.flatMap((list) =>
    object[list].map((field, index) => ({ field, list, index })),
  );
  const fieldNames = new Set<string>();
  const deliveredNames = new Set<string>();
  const repeats: ((typeof fields)[number] & { reason: string })[] = [];
  for (const listedField of fields.toReversed()) {
    const { fieldName } = listedField.field;
    const name = getDeliveredName(listedField.field);
    if (fieldName !== null && fieldNames.has(fieldName)) {
      repeats.push({ ...listedField, reason: `the field ${fieldName} is named` });
    } else if (deliveredNames.has(name)) {
      repeats.push({ ...listedField, reason: `the name ${name} is used` });
    } else {
      if (fieldName !== null) fieldNames.add(fieldName);
      deliveredNames.add(name);
    }
  }
  return repeats.toReversed();
}

/**
 * Replaces aliases of objects and of the module with the provider's names. A read object without a mapped name keeps the
 * alias as its mapped name, so that messages, reads and writes use the name of the manifest.
 */
export function replaceAliases<C extends IntegrationContent>(
  content: C,
  provider: Provider | null,
): C {
  if (!provider) return content;
  const { module = null, read, write, subscribe } = content;
  const moduleProvider = applyModule(provider, module);
  const toProviderName = <T extends { objectName: string }>(object: T): T => ({
    ...object,
    objectName: resolveObjectName(moduleProvider, object.objectName),
  });
  return {
    ...content,
    module: (module !== null && findModule(provider, module)?.name) || module,
    ...(read && {
      read: {
        objects: read.objects.map((object) => {
          const { objectName } = toProviderName(object);
          if (objectName === object.objectName) return object;
          return { ...object, objectName, mapToName: object.mapToName ?? object.objectName };
        }),
      },
    }),
    ...(write && { write: { objects: write.objects.map(toProviderName) } }),
    ...(subscribe && { subscribe: { objects: subscribe.objects.map(toProviderName) } }),
  };
}

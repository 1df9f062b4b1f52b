/**
 * Finds names of objects and fields that are probably misspelled. They are accepted with a warning, because an account may
 * have custom objects and fields of any name.
 */

import { findNearestName } from '../../../kernel/nearest-name.ts';
import { member, type Path, type Text, text } from '../../../kernel/text.ts';
import type { Provider, StandardNames } from '../../../providers/contract.ts';
import { getStandardNames } from '../../../providers/object-support.ts';
import type { IntegrationContent } from './integration-content.ts';

/** Most names with more errors are correct names of custom fields, or of standard fields that the gateway does not know. */
const TOLERANCE = { lettersPerError: 6 };

/** Names of this form are custom at every provider, such as `Score__c` (Salesforce) and `u_score` (ServiceNow). */
const CUSTOM_NAME = /__|^[ux]_/i;

/**
 * Returns a sentence for each name of an object or a field that differs slightly from a standard name of the provider. The
 * content must have the provider's names of objects, not aliases.
 */
export function listSpellingWarnings(
  content: IntegrationContent,
  path: Path,
  provider: Provider,
): Text[] {
  const standardNames = getStandardNames(provider);
  return [...listNames(content, path, standardNames)].flatMap(
    ({ name, noun, owner, candidates, ...named }) => {
      const nearestName = findMisspelledName(name, candidates, provider);
      if (nearestName === null) return [];
      const vendor = owner ?? provider.displayName;
      return [
        text`${member(...named.path)}: ${name} is not a standard ${noun} of ${vendor}. Did you mean ${nearestName}? Ignore this warning if accounts have a custom ${noun} of this name.`,
      ];
    },
  );
}

interface NameToCheck {
  name: string;
  path: Path;
  noun: 'object' | 'field';
  /** The object that has the field. Null for an object. */
  owner: string | null;
  candidates: readonly string[];
}

/** Lists the names of objects, and of fields whose object has known fields. */
function* listNames(
  { read, write, subscribe }: IntegrationContent,
  path: Path,
  standardNames: StandardNames,
): Generator<NameToCheck> {
  const objectNames = [...standardNames.keys()];
  const sections = { read, write, subscribe };
  for (const [section, objects] of Object.entries(sections)) {
    for (const [index, { objectName: name }] of (objects?.objects ?? []).entries()) {
      const namePath = [...path, section, 'objects', index, 'objectName'];
      yield { name, path: namePath, noun: 'object', owner: null, candidates: objectNames };
    }
  }
  for (const field of [...listReadFields(read, path), ...listWatchedFields(subscribe, path)]) {
    yield { ...field, noun: 'field', candidates: standardNames.get(field.owner) ?? [] };
  }
}

type NamedField = Pick<NameToCheck, 'name' | 'path'> & { owner: string };

function* listReadFields(read: IntegrationContent['read'], path: Path): Generator<NamedField> {
  for (const [index, object] of (read?.objects ?? []).entries()) {
    for (const list of ['requiredFields', 'optionalFields'] as const) {
      for (const [position, field] of object[list].entries()) {
        for (const member of ['fieldName', 'default'] as const) {
          const name = field[member];
          if (name == null) continue;
          const fieldPath = [...path, 'read', 'objects', index, list, position, member];
          yield { name, path: fieldPath, owner: object.objectName };
        }
      }
    }
  }
}

function* listWatchedFields(
  subscribe: IntegrationContent['subscribe'],
  path: Path,
): Generator<NamedField> {
  for (const [index, { objectName, updateEvent }] of (subscribe?.objects ?? []).entries()) {
    const eventPath = [...path, 'subscribe', 'objects', index, 'updateEvent'];
    for (const [position, name] of (updateEvent?.requiredWatchFields ?? []).entries()) {
      const fieldPath = [...eventPath, 'requiredWatchFields', position];
      yield { name, path: fieldPath, owner: objectName };
    }
  }
}

/** Returns the standard name that was probably meant. Null if the name is a standard name or a custom one. */
function findMisspelledName(
  name: string,
  standardNames: readonly string[],
  { ignoresCaseOfNames }: Provider,
): string | null {
  if (CUSTOM_NAME.test(name) || standardNames.includes(name)) return null;
  const nearestName = findNearestName(name, standardNames, TOLERANCE);
  if (nearestName === null) return null;
  const normalize = (text: string) => {
    // Numbered names such as `phone2` are usually custom.
    const letters = text.replaceAll(/\d/g, '');
    return ignoresCaseOfNames ? letters.toLowerCase() : letters;
  };
  return normalize(name) === normalize(nearestName) ? null : nearestName;
}

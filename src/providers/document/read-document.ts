/** Reads provider documents. */
import { parse } from 'yaml';
import { type Issue, invalidInput } from '../../kernel/errors.ts';
import { type ProviderDocument, providerDocument } from './provider-document.ts';

/** Parses YAML, or JSON as a part of it. Throws BAD_USER_INPUT with all problems. `name` is the path of the text in the input. */
export function readDocument(text: string, name = 'document'): ProviderDocument {
  const { data, error } = providerDocument.safeParse(parseText(text, name));
  if (data) return data;
  throw invalidInput(
    error.issues.map(
      ({ path, message }): Issue => ({
        in: 'body',
        name: [name, ...path.map(String)].join('.'),
        detail: message,
      }),
    ),
  );
}

function parseText(text: string, name: string): unknown {
  try {
    return parse(text, { schema: 'core', maxAliasCount: 100 });
  } catch (error) {
    const detail = `is not YAML: ${error instanceof Error ? error.message : String(error)}`;
    throw invalidInput([{ in: 'body', name, detail }]);
  }
}

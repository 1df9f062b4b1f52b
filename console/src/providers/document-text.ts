/** The document of a custom provider as text, for the editor. */
import { lazy } from 'react';
import type { TextFormat } from '../integrations/revision-editor.tsx';

/** YAML, and JSON as a part of it. The gateway checks the document when it is saved. */
export const DOCUMENT_TEXT: TextFormat = {
  Editor: lazy(() => import('./document-editor.tsx')),
  parse: (document) => ({ document }),
};

/** The path of the document in the inputs of mutations. */
export const DOCUMENT_PREFIX = 'input.document.';

/** A document to start from. */
export const DOCUMENT_TEMPLATE = `name: x-acme
displayName: Acme
baseUrl: https://api.acme.example
authSchemes: [API_KEY]
apiKey: { in: header, name: X-Api-Key }
healthCheck: /me
api:
  objects:
    contacts:
      displayName: Contacts
      list:
        path: /contacts
        records: /data
        pageSize: { in: query, name: limit, max: 100 }
        paging: { kind: offset, parameter: { in: query, name: offset } }
      standardFields: { id: STRING, name: STRING }
`;

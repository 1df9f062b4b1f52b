/**
 * Finds documents that requests name by `documentId`. They come from manifests, which are JSON objects of documents by
 * id. The compiler of a client writes them: relay-compiler (`persistConfig.file`) or graphql-codegen
 * (`persistedDocuments`).
 */
import { readFileSync } from 'node:fs';
import { type GraphQLError, getIntrospectionQuery, stripIgnoredCharacters } from 'graphql';
import { z } from 'zod';
import type { Viewer } from '../../domain/access/viewer/viewer.ts';
import { StartRefused } from '../../kernel/errors.ts';
import type { Config } from '../../settings/config.ts';
import { toGraphQLError } from './graphql-errors.ts';

type Settings = Pick<Config, 'TRUSTED_DOCUMENTS' | 'TRUSTED_DOCUMENTS_FILES'>;

/** The form of a manifest. The gateway's own pages have one too. */
export const documentManifest = z.record(z.string().min(1), z.string().min(1));

export interface DocumentParams {
  query?: string | null;
  documentId?: string | null;
}

interface OperationDocument {
  text: string;
  /** True if the document is from a manifest. Every caller may run it. */
  isTrusted: boolean;
}

export interface TrustedDocuments {
  /** Returns the text of the request, or the text that `documentId` names. Throws a GraphQLError for an unknown id. */
  find(params: DocumentParams): OperationDocument;
  /** True if some callers may run only trusted documents. */
  areRequired: boolean;
  /** Throws a GraphQLError if the caller must not run this untrusted text. */
  requireTrusted(viewer: Viewer | null, text: string): void;
}

/** Finds a document of the gateway's own pages, which are trusted without a setting. */
export type FindPageDocument = (id: string) => string | undefined;

/** Throws StartRefused if a file is not a manifest. */
export function createTrustedDocuments(
  settings: Settings,
  findPageDocument: FindPageDocument = () => undefined,
): TrustedDocuments {
  const documents = new Map(settings.TRUSTED_DOCUMENTS_FILES.flatMap(readManifest));
  const areRequired = settings.TRUSTED_DOCUMENTS === 'only';
  return {
    areRequired,
    find({ query, documentId }) {
      if (documentId == null) return { text: query ?? '', isTrusted: false };
      // Libraries that require a query send an empty one.
      if (query) throw createRefusal('Send either query or documentId, not both.');
      const text = documents.get(documentId) ?? findPageDocument(documentId);
      if (text !== undefined) return { text, isTrusted: true };
      throw createRefusal('No manifest of this server contains the documentId.');
    },
    requireTrusted(viewer, text) {
      if (!areRequired || (viewer && viewer.kind !== 'END_USER')) return;
      if (viewer === null && isIntrospection(text)) return;
      throw toGraphQLError(
        'FORBIDDEN',
        'This server runs only trusted documents for end users and unauthenticated callers. Send a documentId of its manifests.',
      );
    },
  };
}

function readManifest(path: string): [id: string, text: string][] {
  try {
    return Object.entries(documentManifest.parse(JSON.parse(readFileSync(path, 'utf8'))));
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error ? String(error.code) : 'it is not a manifest';
    throw new StartRefused(
      `TRUSTED_DOCUMENTS_FILES: ${path} can't be read (${reason}). It must be a JSON object with documents by their ids.`,
    );
  }
}

function createRefusal(detail: string): GraphQLError {
  return toGraphQLError('GRAPHQL_VALIDATION_FAILED', detail);
}

/** True for the query with which GraphiQL loads the schema before the user enters a key. */
function isIntrospection(text: string): boolean {
  if (!text.includes('IntrospectionQuery')) return false;
  introspectionQueries ??= new Set(listIntrospectionQueries().map(stripIgnoredCharacters));
  try {
    return introspectionQueries.has(stripIgnoredCharacters(text));
  } catch {
    return false;
  }
}

let introspectionQueries: Set<string> | undefined;

/** Lists the introspection queries of graphql-js with each combination of the options that GraphiQL offers. */
function listIntrospectionQueries(): string[] {
  return [true, false].flatMap((inputValueDeprecation) =>
    [true, false].map((schemaDescription) =>
      getIntrospectionQuery({ inputValueDeprecation, schemaDescription }),
    ),
  );
}

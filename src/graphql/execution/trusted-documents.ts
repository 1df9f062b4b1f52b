/**
 * Documents that requests name by `documentId`, from manifests that a client's compiler has written: of relay-compiler
 * (`persistConfig.file`) or of graphql-codegen (`persistedDocuments`). Both are an object of texts by their ids.
 */
import { readFileSync } from 'node:fs';
import { getIntrospectionQuery, stripIgnoredCharacters } from 'graphql';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import type { Viewer } from '../../domain/viewer/viewer.ts';
import { StartRefused } from '../../errors.ts';
import { toGraphQLError } from './graphql-errors.ts';
import type { Refused } from './prepare.ts';

type Settings = Pick<Config, 'TRUSTED_DOCUMENTS' | 'TRUSTED_DOCUMENTS_FILES'>;

/** Also of the gateway's own pages. */
export const manifest = z.record(z.string().min(1), z.string().min(1));

export interface Requested {
  query?: string | null;
  documentId?: string | null;
}

export interface FoundDocument {
  text: string;
  /** Whether it is of a manifest: everybody may run it. */
  isTrusted: boolean;
}

export interface TrustedDocuments {
  /** What is to be run: the text itself, or the one that the id names. */
  find(requested: Requested): FoundDocument | Refused;
  /** Whether callers are looked at before a document that is not trusted is parsed. */
  areOnly: boolean;
  /** Why the caller may not run a document that is not trusted; null if they may. */
  refusalFor(viewer: Viewer | null, text: string): Refused | null;
}

/** Documents of the gateway's own pages, which are trusted without a setting. */
export type OwnDocuments = (id: string) => string | undefined;

/** Throws StartRefused if a file is not a manifest. */
export function createTrustedDocuments(
  settings: Settings,
  ownDocument: OwnDocuments = () => undefined,
): TrustedDocuments {
  const documents = new Map(settings.TRUSTED_DOCUMENTS_FILES.flatMap(readManifest));
  const areOnly = settings.TRUSTED_DOCUMENTS === 'only';
  return {
    areOnly,
    find({ query, documentId }) {
      if (documentId == null) return { text: query ?? '', isTrusted: false };
      // Libraries that insist on a query send an empty one.
      if (query) return BOTH;
      const text = documents.get(documentId) ?? ownDocument(documentId);
      return text === undefined ? UNKNOWN : { text, isTrusted: true };
    },
    refusalFor(viewer, text) {
      if (!areOnly || (viewer && viewer.kind !== 'END_USER')) return null;
      return viewer === null && isIntrospection(text) ? null : UNTRUSTED;
    },
  };
}

function readManifest(path: string): [id: string, text: string][] {
  try {
    return Object.entries(manifest.parse(JSON.parse(readFileSync(path, 'utf8'))));
  } catch (error) {
    const why =
      error instanceof Error && 'code' in error ? String(error.code) : 'it is no manifest';
    throw new StartRefused(
      `TRUSTED_DOCUMENTS_FILES: ${path} is not read (${why}). It must be a JSON object of documents by their ids.`,
    );
  }
}

function refused(detail: string): Refused {
  return { errors: [toGraphQLError('GRAPHQL_VALIDATION_FAILED', detail)] };
}

const UNKNOWN = refused('The documentId names no document of the manifests of this server.');
const BOTH = refused('Send either query or documentId, not both.');
const UNTRUSTED: Refused = {
  errors: [
    toGraphQLError(
      'FORBIDDEN',
      'This server runs only trusted documents for end users and callers without credentials: send a documentId of its manifests.',
    ),
  ],
};

/** The query by which GraphiQL learns the schema, before a person gives it a key. */
function isIntrospection(text: string): boolean {
  if (!text.includes('IntrospectionQuery')) return false;
  INTROSPECTIONS ??= new Set(introspectionTexts().map(stripIgnoredCharacters));
  try {
    return INTROSPECTIONS.has(stripIgnoredCharacters(text));
  } catch {
    return false;
  }
}

let INTROSPECTIONS: Set<string> | undefined;

/** As graphql-js writes it, with the choices that GraphiQL has. */
function introspectionTexts(): string[] {
  return [true, false].flatMap((inputValueDeprecation) =>
    [true, false].map((schemaDescription) =>
      getIntrospectionQuery({ inputValueDeprecation, schemaDescription }),
    ),
  );
}

/** Makes Yoga's own handler accept only uncompressed JSON, and return the same responses as the adapter. */
import type { ExecutionResult, GraphQLError } from 'graphql';
import { createGraphQLError, type Plugin } from 'graphql-yoga';
import { toGraphQLError } from '../../graphql/execution/graphql-errors.ts';
import type { SerializedResult } from '../../graphql/execution/message.ts';
import type { Results } from '../../graphql/execution/operation-context.ts';
import { createProblem, getHttpRefusal } from '../../kernel/errors.ts';
import { createGraphqlHttpResponse, joinBody } from './graphql-http-response.ts';
import { findResultStreamFormat, refuseUnacceptable } from './result-stream-format.ts';

export function useHttpRules(mapError: (error: unknown) => GraphQLError): Plugin {
  return {
    onRequestParse({ request, endResponse, fetchAPI }) {
      const refusal = findRefusal(request);
      if (!refusal) return;
      const { status, detail } = refusal;
      const { code, extra } = getHttpRefusal(status);
      const problem = createProblem(code, detail, extra);
      const errors = [{ message: detail, extensions: { code, problem } }];
      endResponse(fetchAPI.Response.json({ errors }, { status }));
    },
    onParams({ request, params, setParams }) {
      const documentId = findDocumentId(request, params);
      if (documentId === null && !params.query && hasPersistedQuery(params.extensions)) {
        throw toGraphQLError('PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported', {
          http: { spec: true },
        });
      }
      // Yoga requires a query even if there is a documentId.
      if (documentId !== null) {
        const { query = '' } = params;
        setParams({ ...params, query, documentId } as typeof params);
      }
      // Yoga accepts `false` and 0 as operationName.
      const { operationName } = params as { operationName?: unknown };
      if (operationName != null && typeof operationName !== 'string') {
        throw createGraphQLError('operationName must be a string.', {
          extensions: { http: { status: 400 } },
        });
      }
    },
    onResultProcess({ request, result, setResult, resultProcessor, setResultProcessor }) {
      const accept = request.headers.get('accept');
      if (Array.isArray(result) || findResultStreamFormat(accept, result)) return;
      const acceptable = refuseUnacceptable(accept, result as Results);
      if (acceptable !== result) setResult(acceptable as ExecutionResult);
      else if (!resultProcessor) return;
      const processor: NonNullable<typeof resultProcessor> = (finalResult, { Response }) => {
        const { data, errors, extensions, jsonParts } = finalResult as SerializedResult;
        // Yoga's own refusals have no problem document yet.
        const mappedErrors = errors?.map(mapError);
        const { body, ...init } = createGraphqlHttpResponse(
          { data, extensions, ...(mappedErrors && { errors: mappedErrors }), jsonParts },
          accept,
        );
        return new Response(joinBody(body), init);
      };
      setResultProcessor(processor, 'application/json');
    },
  };
}

/** Returns the documentId of the query string (GET) or the body. Null if there is none. */
function findDocumentId({ method, url }: Request, params: object): string | null {
  const value: unknown =
    method === 'GET'
      ? new URL(url).searchParams.get('documentId')
      : (params as { documentId?: unknown }).documentId;
  return typeof value === 'string' ? value : null;
}

/** True for Apollo's automatic persisted queries, which identify a query by its hash only. */
function hasPersistedQuery(extensions: object | null | undefined): boolean {
  return typeof extensions === 'object' && !!extensions && 'persistedQuery' in extensions;
}

function findRefusal({ method, url, headers }: Request): HttpRefusal | null {
  if (method === 'GET') {
    const { searchParams } = new URL(url);
    const name = ['variables', 'extensions'].findLast(
      (parameter) => !isJson(searchParams.get(parameter)),
    );
    return name ? { status: 400, detail: `The parameter ${name} must be JSON.` } : null;
  }
  if (method !== 'POST') return null;
  // Browsers send forms and plain text without a preflight, so any page could post them.
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    return { status: 415, detail: 'Send the operation as application/json.' };
  }
  if (!headers.get('content-encoding')) return null;
  return { status: 415, detail: 'Send the body uncompressed.' };
}

interface HttpRefusal {
  status: number;
  detail: string;
}

/** True if the text is JSON or absent. */
function isJson(text: string | null): boolean {
  if (!text) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

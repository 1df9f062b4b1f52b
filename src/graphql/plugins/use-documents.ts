/**
 * Parses and validates the document of an operation, and refuses untrusted documents from callers who may run only
 * trusted ones. A valid text is parsed once, and validated once for each schema.
 */
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  specifiedRules,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { ExclusiveFilters } from '../../domain/access/paging/exclusive-filters.ts';
import { inSpan } from '../../kernel/spans.ts';
import type { Config } from '../../settings/config.ts';
import { toGraphQLError } from '../execution/graphql-errors.ts';
import { listLiteralErrors } from '../execution/input-values.ts';
import type { OperationPlugin } from '../execution/operation-context.ts';
import { listSizeErrors, parseDocument } from '../execution/query-limits.ts';
import type { TrustedDocuments } from '../execution/trusted-documents.ts';

/** Cached texts. A document takes about BYTES_PER_CHARACTER of memory for each character of its text. */
const TEXTS_MAX = 1_000;
const BYTES_MAX = 100_000_000;
const BYTES_PER_CHARACTER = 100;

interface ValidDocument {
  document: DocumentNode;
  /** The schemas for which the document is valid. */
  schemas: WeakSet<GraphQLSchema>;
}

/** Must follow useAdmission. */
export function useDocuments(config: Config, trusted: TrustedDocuments): OperationPlugin {
  const validDocuments = new LRUCache<string, ValidDocument>({
    max: TEXTS_MAX,
    maxSize: BYTES_MAX,
    sizeCalculation: (_document, text) => BYTES_PER_CHARACTER * (text.length + 1),
  });
  return {
    onParse({ context, extendContext, setParseFn }) {
      setParseFn(() => {
        const { text, isTrusted } = trusted.find(context.params);
        const document =
          validDocuments.get(text)?.document ??
          inSpan('parse', {}, () => parseDocument(config, text));
        const operation = getOperation(document, context.params.operationName);
        extendContext({ document, operation, text, isTrusted });
        return document;
      });
    },
    onValidate({ context, params, extendContext, setResult }) {
      const { text = '', isTrusted, projectIdOrName } = context;
      const { documentAST: document } = params;
      const rules = (params.rules as ValidationRule[]) ?? specifiedRules;
      const validateFor = (schema: GraphQLSchema) => {
        const cached = validDocuments.get(text);
        const schemas = cached && cached.document === document ? cached.schemas : new WeakSet();
        if (schemas.has(schema)) return [];
        const sizeErrors = listSizeErrors(config, document);
        const errors =
          sizeErrors.length > 0 ? sizeErrors : listValidationErrors(schema, document, rules);
        // Anyone can send useless texts, so only valid texts are cached.
        if (errors.length === 0)
          validDocuments.set(text, { document, schemas: schemas.add(schema) });
        return errors;
      };
      // The schema of a project depends on the caller. Validation errors name parts of the schema, which some callers
      // may not see.
      if (projectIdOrName !== undefined || (trusted.areRequired && !isTrusted)) {
        extendContext({ validateLater: validateFor });
        setResult([]);
        return;
      }
      setResult(validateFor(params.schema as GraphQLSchema));
    },
    onContextBuilding({ context: { viewer, text = '', isTrusted } }) {
      if (!isTrusted) trusted.requireTrusted(viewer, text);
    },
  };
}

/** Checks literals last, with a rule of our own, because errors of graphql-js repeat values. */
function listValidationErrors(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[],
): readonly GraphQLError[] {
  const otherRules = rules.filter((rule) => rule !== ValuesOfCorrectTypeRule);
  otherRules.push(checkExclusiveArguments);
  return [...validate(schema, document, otherRules), ...listLiteralErrors(schema, document)];
}

function getOperation(
  document: DocumentNode,
  operationName: string | null | undefined,
): OperationDefinitionNode {
  const operation = getOperationAST(document, operationName || null);
  if (operation) return operation;
  const detail = operationName
    ? 'The document has no operation with this operationName.'
    : 'The document must have exactly one operation, or operationName must name one of them.';
  throw toGraphQLError('GRAPHQL_VALIDATION_FAILED', detail);
}

/** Refuses combinations of list filters that no index supports, whatever their values. */
const checkExclusiveArguments: ValidationRule = (context) => ({
  Field(node) {
    const exclusive = context.getFieldDef()?.extensions.exclusive as ExclusiveFilters | undefined;
    for (const names of exclusive ?? []) {
      const namedArguments = (node.arguments ?? []).filter(({ name }) =>
        names.includes(name.value),
      );
      if (namedArguments.length < 2) continue;
      const [first, ...others] = namedArguments.map(({ name }) => name.value);
      const detail = `The arguments ${first} and ${others.join(', ')} of ${node.name.value} must not be combined.`;
      context.reportError(new GraphQLError(detail, { nodes: namedArguments }));
    }
  },
});

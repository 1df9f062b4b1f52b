/** Operations ready to run: a text is parsed, validated and measured once, and then cached. */
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  type OperationTypeNode,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config.ts';
import { inSpan } from '../../spans.ts';
import { createExecute, type Execute } from './compiled.ts';
import { exclusiveArguments } from './exclusive-arguments.ts';
import { toGraphQLError } from './graphql-errors.ts';
import { type Cost, costFunction, parseWithin, sizeErrors } from './query-limits.ts';
import { type OperationKey, operationKey } from './share-key.ts';

/** Cached texts, and the memory that one takes: about this much for each character. */
const TEXTS_MAX = 1_000;
const BYTES_MAX = 100_000_000;
const BYTES_PER_CHARACTER = 100;

const RULES = [...specifiedRules, exclusiveArguments];

export interface Prepared {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  cost: Cost;
  execute: Execute;
  operationKey: OperationKey;
}

export interface Refused {
  errors: readonly GraphQLError[];
  /** What it was, if that is known. */
  kind?: OperationTypeNode;
  cost?: number;
}

export type Prepare = (query: string, operationName?: string | null) => Prepared | Refused;

interface Known {
  document: DocumentNode;
  byName: Map<string, Prepared | Refused>;
}

export function createPrepare(
  schema: GraphQLSchema,
  config: Config,
  mapError: (error: unknown) => GraphQLError,
): Prepare {
  const texts = new LRUCache<string, Known>({
    max: TEXTS_MAX,
    maxSize: BYTES_MAX,
    sizeCalculation: (_known, text) => BYTES_PER_CHARACTER * (text.length + 1),
  });

  const read = (query: string): Known | Refused => {
    try {
      const document = parseWithin(config, query);
      const tooLarge = sizeErrors(config, document);
      const errors = tooLarge.length > 0 ? tooLarge : validate(schema, document, RULES);
      return errors.length > 0 ? { errors: errors.map(mapError) } : { document, byName: new Map() };
    } catch (error) {
      return { errors: [mapError(error)] };
    }
  };

  return (query, operationName) => {
    let known: Known | Refused | undefined = texts.get(query);
    if (!known) {
      known = inSpan('parse', {}, () => read(query));
      // Anybody can send useless texts, so they are not cached.
      if ('errors' in known) return known;
      texts.set(query, known);
    }
    const name = operationName ?? '';
    let prepared = known.byName.get(name);
    if (!prepared) {
      prepared = pick(schema, known.document, operationName);
      if (!('errors' in prepared)) known.byName.set(name, prepared);
    }
    return prepared;
  };
}

function pick(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): Prepared | Refused {
  const operation = getOperationAST(document, operationName || null);
  if (operation) {
    const cost = costFunction(schema, document, operation);
    const execute = createExecute(operation);
    return { document, operation, cost, execute, operationKey: operationKey(document, operation) };
  }
  const detail = operationName
    ? 'The document has no operation of this operationName.'
    : 'The document has no operation, or several: then operationName says which one to run.';
  return { errors: [toGraphQLError('GRAPHQL_VALIDATION_FAILED', detail)] };
}

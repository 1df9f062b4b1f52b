/**
 * Executed once, sent to many: subscribers who ask the same of one event as the same caller share its result,
 * and the text that is made of it. Kept for as long as the event itself is held by somebody.
 */
import {
  type ASTNode,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  Kind,
  visit,
} from 'graphql';
import type { Viewer } from '../domain/viewer/viewer.ts';
import { publicResult } from './errors.ts';

type Executed = Promise<ExecutionResult>;

export class SharedResults {
  readonly #byEvent = new WeakMap<object, Map<string, Executed>>();

  /** The result of an event for all of one share key. */
  get(event: object, shareKey: string, execute: () => Executed): Executed {
    let results = this.#byEvent.get(event);
    if (!results) {
      results = new Map();
      this.#byEvent.set(event, results);
    }
    let result = results.get(shareKey);
    if (!result) {
      result = execute();
      results.set(shareKey, result);
    }
    return result;
  }
}

const TEXTS = new WeakMap<ExecutionResult, string>();

/** A result as clients read it, in JSON. */
export function resultText(result: ExecutionResult): string {
  let text = TEXTS.get(result);
  if (text === undefined) {
    text = JSON.stringify(publicResult(result));
    TEXTS.set(result, text);
  }
  return text;
}

/**
 * What a result depends on beside its event and its caller: the document, and the variables below the root
 * field. Where a stream begins and what it leaves out are arguments of the root field, and don't matter.
 */
export function operationKey({ document, operationName, variableValues }: ExecutionArgs): string {
  const { number, variables } = factsOf(document, operationName);
  // One that is left out has its default; one that is null has none.
  const given = variableValues ?? {};
  const values = variables.map((name) => (Object.hasOwn(given, name) ? [given[name]] : []));
  return `${number} ${operationName ?? ''} ${JSON.stringify(values)}`;
}

/** All that a caller's rights depend on. */
export function viewerKey(viewer: Viewer): string {
  const orgs = viewer.kind === 'BUILDER' ? viewer.orgIds : [viewer.orgId];
  return `${viewer.id} ${orgs.join()} ${viewer.scopes.join()}`;
}

interface DocumentFacts {
  number: number;
  variables: string[];
}

const FACTS = new WeakMap<DocumentNode, Map<string, DocumentFacts>>();
let documents = 0;

/** The same text is the same document: parsed ones are cached. */
function factsOf(document: DocumentNode, operationName: string | null | undefined): DocumentFacts {
  const name = operationName ?? '';
  const known = FACTS.get(document);
  const facts = known?.get(name);
  if (facts) return facts;
  documents += 1;
  const made = { number: documents, variables: variablesBelowRoot(document, operationName) };
  FACTS.set(document, (known ?? new Map()).set(name, made));
  return made;
}

function variablesBelowRoot(document: DocumentNode, operationName: string | null | undefined) {
  const operation = getOperationAST(document, operationName);
  const roots = operation?.selectionSet.selections ?? [];
  // Whatever a fragment names counts, though the root field may be in it: then less is shared.
  const below = roots.flatMap((root): ASTNode[] =>
    root.kind === Kind.FIELD
      ? [...(root.directives ?? []), ...(root.selectionSet ? [root.selectionSet] : [])]
      : [root],
  );
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  const names = new Set<string>();
  for (const node of [...below, ...fragments]) {
    visit(node, { Variable: ({ name }) => void names.add(name.value) });
  }
  return [...names].sort();
}

/** How custom providers appear in project documents: each with its own document as text. */
import { z } from 'zod';
import type { Transaction } from '../../../database/transactions/transaction.ts';
import { conflict, DomainError, type Issue } from '../../../kernel/errors.ts';
import { text } from '../../../kernel/text.ts';
import type { Provider } from '../../../providers/contract.ts';
import {
  type ProviderDocument,
  providerDocument,
} from '../../../providers/document/provider-document.ts';
import type { ProjectCall } from '../../access/call.ts';
import { replaceProviders } from '../../access/catalog.ts';
import {
  getRowId,
  type ItemChange,
  type ItemChanges,
  listNeeds,
  type PlanTransaction,
} from '../../access/item-change.ts';
import { lockRow } from '../../access/row-changes.ts';
import { type CanonicalItem, parseCanonicalItem, toCanonicalItem } from '../../base/canonical.ts';
import { createInputIssue } from '../../base/issues.ts';
import {
  type CustomProvider,
  compileOrRefuse,
  createProvider,
  createProviderInput,
  deleteProvider,
  describeSuspended,
  insertCustomProvider,
  removeCustomProvider,
  replaceDocument,
  updateProvider,
} from './custom-provider.ts';
import { suspendConnections, toSuspended } from './suspended-connections.ts';

/** A member that is new here must have the name of the row's column. */
export const customProviderItem = z.object({
  name: providerDocument.shape.name.describe('The name in the document, like `x-acme`.'),
  document: createProviderInput.shape.document,
});

type CustomProviderItem = z.output<typeof customProviderItem>;

export function toCanonicalCustomProvider(item: CustomProviderItem): CanonicalItem {
  return toCanonicalItem(customProviderItem, item);
}

export async function readCustomProviders(
  client: Pick<Transaction, 'customProvider'>,
  projectId: string,
): Promise<{ id: string; row: CustomProvider; item: CanonicalItem }[]> {
  const rows = await client.customProvider.findMany({ where: { projectId } });
  return rows.map((row) => ({ id: row.id, row, item: toCanonicalCustomProvider(row) }));
}

type Reader = Pick<ProjectCall, 'manifests'>;

/** Returns the provider of a document that is not stored yet, or the issues of the document. */
export async function compileItem(
  { manifests }: Reader,
  { name, document }: CustomProviderItem,
  { projectId, path }: { projectId: string; path: readonly PropertyKey[] },
): Promise<{ provider: Provider } | { issues: Issue[] }> {
  try {
    const content = await manifests.readProvider(projectId, document, [...path, 'document']);
    if (content.name !== name) {
      const detail = `must be the name in the document, ${content.name}.`;
      return { issues: [createInputIssue([...path, 'name'], detail, name)] };
    }
    // Nothing sends a request with this provider, so its revision need not identify it.
    const row = { projectId, id: 'planned', revision: 0 };
    return { provider: compileOrRefuse(row, content, [...path, 'document']) };
  } catch (error) {
    if (!(error instanceof DomainError) || !error.issues) throw error;
    return { issues: error.issues.map(toOuterIssue) };
  }
}

/** The position of the issue is that of the document in the project document, so the text names the position inside. */
function toOuterIssue({ line, column = 1, detail, ...issue }: Issue): Issue {
  if (line === undefined) return { ...issue, detail };
  return { ...issue, detail: text`${detail} See line ${line}, column ${column} of it.` };
}

/** Reads the new documents of a plan by their paths. Must precede the transaction, because each may take a second. */
export async function readNewDocuments(
  { manifests }: Reader,
  projectId: string,
  changes: readonly ItemChange[],
): Promise<Map<string, ProviderDocument>> {
  const documents = new Map<string, ProviderDocument>();
  for (const { path, after } of changes) {
    if (after === null) continue;
    const { document } = parseCanonicalItem(customProviderItem, after);
    documents.set(path, await manifests.readProvider(projectId, document, [path]));
  }
  return documents;
}

export const customProviderChanges: ItemChanges = {
  needs: listNeeds(createProvider, updateProvider, deleteProvider),
  async put(plan, change) {
    const { call, tx, projectId, ids, providerDocuments } = plan;
    const { path, after } = change;
    const content = providerDocuments.get(path);
    if (!content) throw new Error(`Bug: the document of ${path} was not read.`);
    const newDocument = { text: String(after.document), content };
    const row = ids.has(path)
      ? await replaceStoredDocument(plan, getRowId(plan, path), newDocument)
      : await insertCustomProvider(tx, projectId, newDocument);
    ids.set(path, row.id);
    // The integrations of the plan are checked with the new document.
    plan.call = {
      ...call,
      catalog: replaceProviders(call.catalog, [compileOrRefuse(row, content)]),
    };
    plan.afterCommit.push(async () => call.catalogs.forget(projectId));
  },
  async remove({ call, tx, projectId, ids, afterCommit }, { path }) {
    await removeCustomProvider(tx, { projectId, id: getRowId({ ids }, path) });
    afterCommit.push(async () => call.catalogs.forget(projectId));
  },
};

/** Throws CONFLICT if a connection must be connected again that the plan does not name. */
async function replaceStoredDocument(
  { call, tx, projectId, allowDeletions, recordEvents }: PlanTransaction,
  id: string,
  newDocument: { text: string; content: ProviderDocument },
): Promise<CustomProvider> {
  const time = call.now();
  const stored = await lockRow(tx, 'CustomProvider', { projectId, id, noun: 'Custom provider' });
  const provider = compileOrRefuse(stored, newDocument.content);
  const count = await tx.connection.count({ where: toSuspended(projectId, provider) });
  if (count > 0 && !allowDeletions) throw conflict(`${describeSuspended(count)} Plan again.`);
  recordEvents.push(() => suspendConnections(tx, { projectId, provider, time }));
  return replaceDocument(tx, stored, { ...newDocument, time });
}

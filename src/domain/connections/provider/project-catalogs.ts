/** Caches the catalogs of projects: the built-in providers, and those that the project's documents describe. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../database/open/database.ts';
import type { Row } from '../../../database/statements/tables.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Provider } from '../../../providers/contract.ts';
import { type Catalog, type Catalogs, createCatalog } from '../../access/catalog.ts';
import { compileProvider, toDocumentRevision } from './compiled-provider.ts';

/** How long a catalog is cached. A change of another process therefore applies within about a second. */
const FRESH_MS = 1_000;
/** The maximum size of the cache, in characters of documents: some hundreds of the largest ones. */
const CHARACTERS_MAX = 64 * 1024 * 1024;

/** The providers of a project by the revision of their documents. Null if a document can't be used. */
type CompiledProviders = ReadonlyMap<string, Provider | null>;

interface CachedCatalog {
  catalog: Catalog;
  compiled: CompiledProviders;
  characters: number;
}

export class ProjectCatalogs implements Catalogs {
  readonly builtIn: Catalog;
  readonly #database: Database;
  readonly #log: Log;
  readonly #catalogs = new LRUCache<string, CachedCatalog>({
    maxSize: CHARACTERS_MAX,
    sizeCalculation: ({ characters }) => Math.max(1, characters),
    ttl: FRESH_MS,
    noDeleteOnStaleGet: true,
  });
  readonly #lookUps = new Map<string, Promise<Catalog>>();
  /** A page of many projects sends one statement, and not one for each project. */
  readonly #keys = createProjectLoader((projectIds) =>
    this.#database.prisma.customProvider.findMany({
      where: { projectId: { in: projectIds } },
      select: { projectId: true, id: true, revision: true },
    }),
  );
  readonly #documents = createProjectLoader((projectIds) =>
    this.#database.prisma.customProvider.findMany({ where: { projectId: { in: projectIds } } }),
  );

  constructor(providers: readonly Provider[], { database, log }: { database: Database; log: Log }) {
    this.builtIn = createCatalog(providers);
    this.#database = database;
    this.#log = log;
  }

  /** Simultaneous calls share one lookup. */
  async getOfProject(projectId: string): Promise<Catalog> {
    const cached = this.#catalogs.get(projectId);
    if (cached) return cached.catalog;
    const runningLookUp = this.#lookUps.get(projectId);
    if (runningLookUp) return runningLookUp;
    const lookUp = this.#lookUp(projectId, () => this.#lookUps.get(projectId) === lookUp);
    this.#lookUps.set(projectId, lookUp);
    try {
      return await lookUp;
    } finally {
      if (this.#lookUps.get(projectId) === lookUp) this.#lookUps.delete(projectId);
    }
  }

  /** Must be called after a change of the project's documents. A running lookup may have read the state before it. */
  forget(projectId: string): void {
    this.#catalogs.delete(projectId);
    this.#lookUps.delete(projectId);
  }

  async #lookUp(projectId: string, isCurrent: () => boolean): Promise<Catalog> {
    const keys = await this.#keys.load(projectId);
    const previous = this.#catalogs.peek(projectId, { allowStale: true });
    const isUnchanged =
      keys.length === (previous?.compiled.size ?? 0) &&
      keys.every((key) => previous?.compiled.has(toDocumentRevision(key)));
    const current = isUnchanged
      ? (previous ?? { catalog: this.builtIn, compiled: new Map(), characters: 0 })
      : await this.#compile(await this.#documents.load(projectId), previous?.compiled);
    if (isCurrent()) this.#catalogs.set(projectId, current);
    return current.catalog;
  }

  /**
   * Compiles the documents, except those that have not changed. Each is compiled in a turn of the event loop of its
   * own, because a large one takes tens of milliseconds.
   */
  async #compile(
    rows: readonly Row<'CustomProvider'>[],
    previous?: CompiledProviders,
  ): Promise<CachedCatalog> {
    const compiled = new Map<string, Provider | null>();
    for (const row of rows) {
      const key = toDocumentRevision(row);
      const unchanged = previous?.get(key);
      if (unchanged === undefined) await yieldToEventLoop();
      compiled.set(key, unchanged === undefined ? this.#tryToCompile(row) : unchanged);
    }
    const providers = [...compiled.values()].filter((provider) => provider !== null);
    const characters = rows.reduce((sum, { document }) => sum + document.length, 0);
    return {
      catalog: createCatalog([...this.builtIn.providers, ...providers]),
      compiled,
      characters,
    };
  }

  /** Returns null for a document that this version of the gateway can't use. Its connections then wait. */
  #tryToCompile(row: Row<'CustomProvider'>): Provider | null {
    const { projectId, id: customProviderId, name } = row;
    const compiled = compileProvider(row);
    if (!('problem' in compiled)) return compiled.provider;
    const fields = { projectId, customProviderId, provider: name, problem: compiled.problem };
    this.#log.error(fields, 'custom_provider.unusable');
    return null;
  }
}

/** Combines the look-ups of one turn of the event loop. */
function createProjectLoader<R extends { projectId: string }>(
  findRows: (projectIds: string[]) => Promise<R[]>,
): DataLoader<string, R[]> {
  const findByProject = async (projectIds: readonly string[]) => {
    const rows = Map.groupBy(await findRows([...projectIds]), ({ projectId }) => projectId);
    return projectIds.map((projectId) => rows.get(projectId) ?? []);
  };
  return new DataLoader(findByProject, { cache: false });
}

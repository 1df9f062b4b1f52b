/** Loads and compiles, before the port opens, what would hold up the first requests. */
import type { Database } from '../../database/database.ts';
import type { Pipeline } from '../../graphql/execution/pipeline.ts';

/** Enough for Node to compile the code of every operation. Their texts differ, because a known text is not parsed again. */
const OPERATIONS = 20;

export async function warmUp(database: Database, pipeline: Pipeline): Promise<void> {
  // Prisma loads its query compiler at the first statement of all.
  await database.prisma.$transaction([database.prisma.org.findFirst({ where: { id: '' } })]);
  for (let count = 1; count <= OPERATIONS; count += 1) {
    const query = `mutation WarmUp${count} { createTopic(input: { projectIdOrName: "", name: "" }) { topic { id } } }`;
    // Nobody: it is parsed, validated, measured and compiled, and then refused.
    await pipeline.run({ query }, { requestId: 'warm-up', address: '', credentials: {} });
  }
}

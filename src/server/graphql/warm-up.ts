/** Loads and compiles code before the port opens, so that it does not delay the first requests. */
import type { Database } from '../../database/database.ts';
import { runOperation } from './run-operation.ts';
import type { Yoga } from './yoga.ts';

/** Enough for Node to compile the code of every operation. Their texts differ, because a cached text is not parsed again. */
const OPERATIONS = 20;

export async function warmUp(database: Database, yoga: Yoga): Promise<void> {
  // Prisma loads its query compiler at its first statement.
  await database.prisma.$transaction([database.prisma.org.findFirst({ where: { id: '' } })]);
  for (let count = 1; count <= OPERATIONS; count += 1) {
    const query = `mutation WarmUp${count} { createTopic(input: { projectIdOrName: "", name: "" }) { topic { id } } }`;
    // Without credentials, it is parsed, validated, costed and compiled, then refused.
    await runOperation(yoga, { query }, { requestId: 'warm-up', address: '', credentials: {} });
  }
}

/** Loads and compiles code before the port opens, so that the first requests are not delayed. */
import type { Database } from '../../database/open/database.ts';
import { openOperation } from './open-operation.ts';
import type { Yoga } from './yoga.ts';

/**
 * The number of operations after which Node has compiled the code that every operation runs. Their documents differ,
 * because a cached document is not parsed again.
 */
const OPERATION_COUNT = 20;

export async function warmUp(database: Database, yoga: Yoga): Promise<void> {
  // Prisma loads its query compiler for its first statement.
  await database.prisma.$transaction([database.prisma.org.findFirst({ where: { id: '' } })]);
  for (let count = 1; count <= OPERATION_COUNT; count += 1) {
    const query = `mutation WarmUp${count} { createTopic(input: { projectIdOrName: "", name: "" }) { topic { id } } }`;
    // The operation has no credentials: it is parsed, validated, costed and compiled, and then refused.
    const caller = { address: '', credentials: {} };
    const operation = await openOperation(yoga, { query }, caller);
    if ('run' in operation) await operation.run();
  }
}

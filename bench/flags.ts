/** Reads the command line options of a run. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { z } from 'zod';
import { MOVING_WORKLOADS } from './parts/moving/documents.ts';
import { PEERS } from './peers.ts';
import { type BenchSizes, getSizes, SMOKE_FLAGS } from './sizes.ts';
import { WORKLOADS } from './workloads.ts';

export const PARTS = [
  'requests',
  'fan-out',
  'deliveries',
  'moving',
  'event-log',
  'inbound',
  'scale-out',
  'start-up',
  'embedded',
  'observing',
  'callers',
  'retention',
] as const;
export type Part = (typeof PARTS)[number];

const positiveInteger = z.coerce.number().int().positive();
const nameList = z.string().transform((text) => text.split(',').map((name) => name.trim()));

const shape = z.object({
  parts: nameList.pipe(z.array(z.enum(PARTS))).optional(),
  peers: nameList.pipe(z.array(z.enum(PEERS))).optional(),
  workloads: nameList.pipe(z.array(z.enum(WORKLOADS))).optional(),
  'moving-workloads': nameList.pipe(z.array(z.enum(MOVING_WORKLOADS))).optional(),
  profile: z.string().optional(),
  results: z.string().optional(),
  seconds: z.coerce.number().positive().default(4),
  rounds: positiveInteger.default(3),
  runs: positiveInteger.default(1),
  sockets: positiveInteger.default(48),
  operations: positiveInteger.default(500_000),
  seed: positiveInteger.default(1),
  data: z.string().optional(),
  servers: z.string().optional(),
  growth: z.boolean().default(false),
  large: z.boolean().default(false),
  smoke: z.boolean().default(false),
});

export const FLAG_NAMES = Object.keys(shape.shape);

export interface Flags extends z.output<typeof shape> {
  parts: Part[];
  sizes: BenchSizes;
}

/** Flags without a value. */
const BOOLEAN_FLAGS = ['growth', 'large', 'smoke'];

/** Throws with the reason if a flag is unknown or invalid. */
export function readFlags(args: string[]): Flags {
  const options: ParseArgsOptionsConfig = {};
  for (const name of FLAG_NAMES) {
    options[name] = { type: BOOLEAN_FLAGS.includes(name) ? 'boolean' : 'string' };
  }
  const { values } = parseArgs({ args, options });
  const flags = shape.parse({ ...(values.smoke && SMOKE_FLAGS), ...values });
  const isNarrow = flags.peers !== undefined || flags.workloads !== undefined;
  const parts = flags.parts ?? (isNarrow ? ['requests'] : [...PARTS]);
  return { ...flags, sizes: getSizes(flags), parts };
}

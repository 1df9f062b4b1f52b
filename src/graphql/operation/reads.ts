import {
  pauseReads,
  pauseReadsInput,
  resumeReads,
  resumeReadsInput,
} from '../../domain/operation/read/pause.ts';
import { triggerRead, triggerReadInput } from '../../domain/operation/read/trigger.ts';
import { uncheckedInputArg } from '../schema/inputs.ts';
import { payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Installation, Operation } from '../schema/types.ts';

builder.mutationFields((t) => ({
  triggerRead: t.field({
    type: payload('TriggerReadPayload', 'operation', Operation, 'The operation that reads.'),
    description: "Reads an object now, once, beside its schedule. Doesn't wait for the end.",
    args: uncheckedInputArg(t.arg, triggerReadInput),
    resolve: async (_root, { input }, { call }) => ({ operation: await triggerRead(call, input) }),
  }),
  pauseReads: t.field({
    type: payload('PauseReadsPayload', 'installation', Installation, 'As it is now.'),
    description: 'Pauses scheduled reads of an installation. Triggered reads stay possible.',
    args: uncheckedInputArg(t.arg, pauseReadsInput),
    resolve: async (_root, { input }, { call }) => ({
      installation: await pauseReads(call, input),
    }),
  }),
  resumeReads: t.field({
    type: payload('ResumeReadsPayload', 'installation', Installation, 'As it is now.'),
    description: 'Goes on with scheduled reads that were paused.',
    args: uncheckedInputArg(t.arg, resumeReadsInput),
    resolve: async (_root, { input }, { call }) => ({
      installation: await resumeReads(call, input),
    }),
  }),
}));

import { pauseReads, resumeReads } from '../../domain/operation/read/pause.ts';
import { triggerRead } from '../../domain/operation/read/trigger.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { Installation, Operation } from '../schema/types.ts';

builder.mutationFields((t) => ({
  triggerRead: mutationField(t, triggerRead, {
    type: payload(
      'TriggerReadPayload',
      'operation',
      Operation,
      'The operation that reads. Subscribe to it, or get it again, to see its outcome.',
    ),
    description:
      'Reads an object once, now, beside its schedule. The answer does not wait for the end of the read.',
  }),
  pauseReads: mutationField(t, pauseReads, {
    type: payload(
      'PauseReadsPayload',
      'installation',
      Installation,
      'The installation. Its objects tell which reads are paused.',
    ),
    description:
      'Pauses reads of an installation: those under way stop after their page. triggerRead still works.',
  }),
  resumeReads: mutationField(t, resumeReads, {
    type: payload(
      'ResumeReadsPayload',
      'installation',
      Installation,
      'The installation. Its objects tell which reads are paused.',
    ),
    description: 'Resumes reads that were paused: those under way go on with their next page.',
  }),
}));

import {
  listConnectionRequests,
  listOperationRequests,
  recordedRequestResource,
} from '../../domain/diagnosis/recorded-request.ts';
import { listField } from '../schema/fields.ts';
import { objectType } from '../schema/object-type.ts';
import { builder } from '../schema/schema-builder.ts';
import { ConnectedAccount, Operation, RecordedRequest, RecordedRequests } from '../schema/types.ts';

objectType(RecordedRequest, recordedRequestResource);

builder.objectField(Operation, 'requests', (t) =>
  listField(t, RecordedRequests, { list: listOperationRequests }),
);

builder.objectField(ConnectedAccount, 'requests', (t) =>
  listField(t, RecordedRequests, { list: listConnectionRequests }),
);

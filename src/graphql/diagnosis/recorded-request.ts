import {
  listConnectionRequests,
  listOperationRequests,
  recordedRequestResource,
} from '../../domain/diagnosis/recorded-request.ts';
import { addList } from '../schema/lists.ts';
import { objectType } from '../schema/object-type.ts';
import { ConnectedAccount, Operation, RecordedRequest, RecordedRequests } from '../schema/types.ts';

objectType(RecordedRequest, recordedRequestResource);

addList(Operation, 'requests', RecordedRequests, listOperationRequests);

addList(ConnectedAccount, 'requests', RecordedRequests, listConnectionRequests);

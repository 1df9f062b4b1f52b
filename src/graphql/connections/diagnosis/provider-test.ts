import {
  type ProviderTest,
  providerTestResource,
  testProvider,
} from '../../../domain/connections/diagnosis/provider-test.ts';
import { addMutation } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';

const TestProviderPayload = objectType(
  builder.objectRef<ProviderTest>('TestProviderPayload'),
  providerTestResource,
);

addMutation('testProvider', testProvider, TestProviderPayload);

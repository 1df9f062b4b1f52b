/** A running project in the console: its messages, failures and changes. One server and one browser serve all tests. */
import { describe } from 'vitest';
import { describeInBrowser } from '../support/stage.ts';
import { testChanges } from './changes.ts';
import { testDeliveries } from './deliveries.ts';
import { testDiagnosis } from './diagnosis.ts';
import { testLive } from './live.ts';
import { testPlans } from './plans.ts';
import { testCustomProviders } from './providers/custom-providers.ts';
import { openConsoleStage } from './stage.ts';
import { testStates } from './states.ts';

/** Deliveries that the tests let fail stay in the state Retrying until a test retries them. */
const RETRY_SECONDS = '36000,36000,36000';

describeInBrowser(
  // Tests of custom providers start the server of a provider.
  () => openConsoleStage(RETRY_SECONDS, { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' }),
  (getStage) => {
    // Later suites may delete rows.
    describe('deliveries', () => testDeliveries(getStage));
    describe('diagnosis', () => testDiagnosis(getStage));
    describe('states', () => testStates(getStage));
    describe('changes', () => testChanges(getStage));
    describe('plans', () => testPlans(getStage));
    describe('custom providers', () => testCustomProviders(getStage));
    describe('live', () => testLive(getStage));
  },
);

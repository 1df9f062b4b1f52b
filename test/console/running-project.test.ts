/** A running project in the console: its messages, failures and changes. One server and one browser serve all tests. */
import { describe } from 'vitest';
import { describeInBrowser } from '../support/stage.ts';
import { testChanges } from './changes.ts';
import { testDeliveries } from './deliveries.ts';
import { testDiagnosis } from './diagnosis.ts';
import { testLive } from './live.ts';
import { testPlans } from './plans.ts';
import { openConsoleStage } from './stage.ts';
import { testStates } from './states.ts';

/** Deliveries that the tests let fail stay in the state Retrying until a test retries them. */
const RETRY_SECONDS = '36000,36000,36000';

describeInBrowser(
  () => openConsoleStage(RETRY_SECONDS),
  (getStage) => {
    // Later suites may delete rows.
    describe('deliveries', () => testDeliveries(getStage));
    describe('diagnosis', () => testDiagnosis(getStage));
    describe('states', () => testStates(getStage));
    describe('changes', () => testChanges(getStage));
    describe('plans', () => testPlans(getStage));
    describe('live', () => testLive(getStage));
  },
);

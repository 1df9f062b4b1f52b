/** What validation finds leaves like every other error: Yoga's masking sees only what parsing and execution throw. */
import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

export function useValidationProblems(mapError: (error: unknown) => GraphQLError): Plugin {
  return {
    onValidate:
      () =>
      ({ valid, result, setResult }) => {
        if (!valid) setResult(result.map((error) => mapError(error)));
      },
  };
}

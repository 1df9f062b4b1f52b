/** The texts of the operations, which pages send by their ids alone: for people who want to read one. */
import { useEffect, useState } from 'react';
import { BASE } from './connection-state.ts';

type Documents = Record<string, string>;
let all: Promise<Documents> | undefined;

/** One for all pages of a tab; asked for again if it did not come. */
function readDocuments(): Promise<Documents> {
  all ??= fetch(`${BASE}/console/documents.json`)
    .then((response) => response.json())
    .catch(() => {
      all = undefined;
      return {};
    });
  return all;
}

/** Null until it is there. */
export function useDocument(id: string): string | null {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    let isLeft = false;
    void readDocuments().then((documents) => {
      if (!isLeft) setText(documents[id] ?? null);
    });
    return () => {
      isLeft = true;
    };
  }, [id]);
  return text;
}

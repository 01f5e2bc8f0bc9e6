import { lazy } from 'react'

/** Parser and highlighting are loaded with the first answer; call it early, so that the answer need not wait. */
export const loadRichText = () =>
  import('./MarkdownText.tsx').catch(() => ({ MarkdownText: Plain }))

/** The Markdown of an answer. Suspends while its code is loaded. */
export const RichText = lazy(async () => ({ default: (await loadRichText()).MarkdownText }))

/** Without that code: an answer that was paid for is shown in any case. */
function Plain({ text }: { readonly text: string }) {
  return <p className="whitespace-pre-wrap">{text}</p>
}

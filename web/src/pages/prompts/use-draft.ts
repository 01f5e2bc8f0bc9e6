import { useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { api } from '../../api/client.ts'
import { useToast } from '../../components/Toast.tsx'
import { changesOf, draftOf, type Draft } from './prompt-draft.ts'
import { PROMPTS, promptQuery, type Prompt, type PromptChange } from './prompt-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface Edits {
  readonly fields: Partial<Draft>
  /** The version that the edited text started from. */
  readonly ofVersion: number
}

/** Keeps only the edited fields; the others follow the prompt, also when it changes elsewhere. */
export function useDraft(prompt: Prompt) {
  const [edits, setEdits] = useState<Edits>()
  const draft = useMemo(
    (): Draft => ({ ...draftOf(prompt), ...edits?.fields }),
    [prompt, edits?.fields],
  )
  const changes = useMemo(() => changesOf(draft, prompt), [draft, prompt])
  return {
    draft,
    /** Undefined: nothing is unsaved. */
    changes,
    isOvertaken: changes?.body !== undefined && edits?.ofVersion !== prompt.version,
    edit: (change: Partial<Draft>): void =>
      setEdits((before) => ({
        ofVersion: prompt.version,
        ...before,
        fields: { ...before?.fields, ...change },
      })),
    discard: (): void => setEdits(undefined),
    /** Edits typed since the save was sent stay unsaved. */
    forgetSaved: (sent: Draft, version: number): void =>
      setEdits((before) => {
        const left = Object.entries(before?.fields ?? {}).filter(
          ([name, value]) => value !== sent[name as keyof Draft],
        )
        return left.length === 0
          ? undefined
          : { ofVersion: version, fields: Object.fromEntries(left) }
      }),
  }
}

export function useSavePrompt(prompt: Prompt, onSaved: (saved: Prompt, sent: Draft) => void) {
  const queries = useQueryClient()
  const toast = useToast()
  return useSubmit({
    mutationFn: ({ changes }: { changes: PromptChange; draft: Draft }) =>
      api.patch('/me/prompts/{id}', changes, { path: { id: prompt.id } }),
    async onSuccess(saved, { draft }) {
      queries.setQueryData(promptQuery(prompt.id).queryKey, saved)
      onSaved(saved, draft)
      toast(
        saved.version > prompt.version
          ? t('Versão {version} salva.', { version: saved.version })
          : t('Prompt salvo.'),
      )
      await queries.invalidateQueries({ queryKey: PROMPTS })
    },
  })
}

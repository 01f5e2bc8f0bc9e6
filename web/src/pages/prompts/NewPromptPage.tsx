import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { Notice } from '../../components/Notice.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { useToast } from '../../components/Toast.tsx'
import {
  EMPTY_DRAFT,
  EXAMPLE_DRAFT,
  faultOf,
  inputOf,
  type Draft,
  type DraftFault,
} from './prompt-draft.ts'
import { PromptForm } from './PromptForm.tsx'
import { PROMPTS, promptQuery } from './prompt-queries.ts'
import { explainPromptError } from './prompt-words.ts'
import { UnsavedGuard } from './UnsavedGuard.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

export function NewPromptPage() {
  const { exemplo: hasExample } = useSearch({ strict: false })
  const [draft, setDraft] = useState<Draft>(hasExample === true ? EXAMPLE_DRAFT() : EMPTY_DRAFT)
  const [isEdited, setEdited] = useState(false)
  const [fault, setFault] = useState<DraftFault>()
  const create = useCreatePrompt()
  return (
    <>
      <BackToPrompts />
      <PageTitle
        title={t('Novo prompt')}
        description={t('Depois de salvo, você executa, compara versões e usa pela API.')}
      />
      <PromptForm
        draft={draft}
        fault={fault}
        onEdit={(change) => {
          setEdited(true)
          setDraft((before) => ({ ...before, ...change }))
        }}
        onSubmit={() => {
          const found = faultOf(draft)
          setFault(found)
          if (!found && !create.isPending) create.mutate(draft)
        }}
      >
        {create.error && (
          <Notice tone="danger" role="alert">
            {explainPromptError(create.error)}
          </Notice>
        )}
        <div className="flex justify-end">
          <Button type="submit" isBusy={create.isPending}>
            {t('Salvar prompt')}
          </Button>
        </div>
      </PromptForm>
      <UnsavedGuard isUnsaved={isEdited && !create.isSuccess} />
    </>
  )
}

export function BackToPrompts() {
  return (
    <Link
      to="/prompts"
      className="mb-3 inline-flex min-h-11 items-center gap-2 text-sm font-medium text-muted hover:text-ink"
    >
      <ArrowLeft aria-hidden="true" className="size-4" />
      {t('Todos os prompts')}
    </Link>
  )
}

function useCreatePrompt() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  return useSubmit({
    mutationFn: (draft: Draft, once) => api.post('/me/prompts', inputOf(draft), { once }),
    async onSuccess(made) {
      queries.setQueryData(promptQuery(made.id).queryKey, made)
      toast(t('Prompt salvo.'))
      // The draft is saved, so leaving the page needs no confirmation.
      await navigate({
        to: '/prompts/$id',
        params: { id: made.id },
        replace: true,
        ignoreBlocker: true,
      })
      await queries.invalidateQueries({ queryKey: [...PROMPTS, 'list'] })
    },
  })
}

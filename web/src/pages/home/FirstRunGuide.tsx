/** From nothing to the first answer of a model, each step ticked by what the API says. Gone once all are done. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Card } from '../../components/Card.tsx'
import { FirstRequest } from './FirstRequest.tsx'
import { GuideStep } from './GuideStep.tsx'
import { GUIDE_REFRESH_MS, statsQuery, summaryQuery } from './home-queries.ts'

const DAYS = 365

export function FirstRunGuide() {
  const [isWatching, setIsWatching] = useState(true)
  const refetchInterval = isWatching ? GUIDE_REFRESH_MS : false
  const { data: stats } = useQuery({ ...statsQuery, refetchInterval })
  const { data: usage } = useQuery({ ...summaryQuery(DAYS), refetchInterval })
  if (!stats || !usage) return null

  const hasProfile = Boolean(stats.profile?.cpf_cnpj)
  const hasPaid = stats.topups.paid > 0 || stats.balance_brl > 0
  const hasKey = stats.keys.active > 0
  const hasCalled = usage.period_totals.requests > 0
  const done = [hasProfile, hasPaid, hasKey, hasCalled]
  const doneCount = done.filter(Boolean).length
  const isComplete = doneCount === done.length
  if (isComplete === isWatching) setIsWatching(!isComplete)
  if (isComplete) return null
  const next = done.indexOf(false)

  return (
    <Card
      title="Do zero à primeira resposta"
      description={
        <span role="status">
          {doneCount} de {done.length} passos feitos
        </span>
      }
    >
      <ol className="flex flex-col">
        <GuideStep
          isDone={hasProfile}
          isNext={next === 0}
          title="Complete seu perfil"
          text="Nome e CPF ou CNPJ de quem paga: o Pix precisa deles."
          to="/perfil"
          action="Completar perfil"
        />
        <GuideStep
          isDone={hasPaid}
          isNext={next === 1}
          title="Recarregue com Pix"
          text="A partir de R$ 20. Cai em segundos e o que não usar em 7 dias pode voltar."
          to="/recargas"
          action="Recarregar"
        />
        <GuideStep
          isDone={hasKey}
          isNext={next === 2}
          title="Crie uma chave"
          text="Com limites por chave, nenhum erro gasta mais do que você deixar."
          to="/chaves"
          action="Criar chave"
        />
        <GuideStep
          isDone={hasCalled}
          isNext={next === 3}
          title="Faça a primeira chamada"
          text="Do seu código ou do terminal. Serve a biblioteca da OpenAI: só muda o endereço."
        >
          <FirstRequest />
        </GuideStep>
      </ol>
    </Card>
  )
}

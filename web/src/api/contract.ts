/**
 * Made of /v1/openapi.json by `npm run web:contract`: not to be edited. A test says when it is old.
 */

export interface Contract {
  get: {
    /**
     * Os vídeos pedidos que ainda podem ser baixados, o mais novo primeiro
     */
    '/videos': {
      query: {
        limit?: number
        order?: 'asc' | 'desc'
        /**
         * O último vídeo da página anterior.
         */
        after?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        object: 'list'
        data: {
          id: string
          object: 'video'
          model: string
          status: 'queued' | 'in_progress' | 'completed' | 'failed'
          progress: number
          created_at: number
          completed_at: number | null
          expires_at: number | null
          /**
           * Os pedidos; depois de pronto, os que foram cobrados.
           */
          seconds: string
          size: string | null
          /**
           * O prompt não é guardado.
           */
          prompt: null
          remixed_from_video_id: null
          error: {
            code: string
            message: string
          } | null
          cost_billed_brl: number | null
        }[]
        first_id: string | null
        last_id: string | null
        has_more: boolean
      }
    }
    /**
     * Uma resposta guardada
     */
    '/responses/{id}': {
      path: {
        id: string
      }
      query: {
        /**
         * Uma resposta guardada não vem em stream.
         */
        stream?: 'false'
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'response'
        created_at: number
        model: string
        output: {
          id: string
          type: string
          [k: string]: unknown
        }[]
        status: 'completed' | 'incomplete' | 'failed'
        store: true
        usage: {
          input_tokens: number
          input_tokens_details: {
            cached_tokens: number
            cache_write_tokens: number
          }
          output_tokens: number
          output_tokens_details: {
            reasoning_tokens: number
          }
          total_tokens: number
        } | null
        /**
         * BRL
         */
        cost_billed_brl?: number
        [k: string]: unknown
      }
    }
    /**
     * Os itens a partir dos quais uma resposta guardada foi gerada, com a conversa antes dela
     */
    '/responses/{id}/input_items': {
      path: {
        id: string
      }
      query: {
        limit?: number
        order?: 'asc' | 'desc'
        /**
         * O último item da página anterior.
         */
        after?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        object: 'list'
        data: {
          id: string
          type: string
          [k: string]: unknown
        }[]
        first_id: string | null
        last_id: string | null
        has_more: boolean
      }
    }
    /**
     * Os arquivos guardados
     */
    '/files': {
      query: {
        purpose?: 'batch' | 'batch_output'
        limit?: number
        order?: 'asc' | 'desc'
        /**
         * O último arquivo da página anterior.
         */
        after?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        object: 'list'
        data: {
          id: string
          object: 'file'
          bytes: number
          created_at: number
          expires_at: number
          filename: string
          purpose: 'batch' | 'batch_output'
          status: 'processed'
        }[]
        first_id: string | null
        last_id: string | null
        has_more: boolean
      }
    }
    /**
     * Um arquivo guardado
     */
    '/files/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'file'
        bytes: number
        created_at: number
        expires_at: number
        filename: string
        purpose: 'batch' | 'batch_output'
        status: 'processed'
      }
    }
    /**
     * O conteúdo de um arquivo guardado
     */
    '/files/{id}/content': {
      path: {
        id: string
      }
      answer: string
    }
    /**
     * Os lotes, do mais novo ao mais antigo
     */
    '/batches': {
      query: {
        limit?: number
        /**
         * O último lote da página anterior.
         */
        after?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        object: 'list'
        data: {
          id: string
          object: 'batch'
          endpoint: string
          errors: null
          input_file_id: string
          completion_window: '24h'
          status: 'in_progress' | 'completed' | 'expired' | 'cancelling' | 'cancelled'
          output_file_id: string | null
          error_file_id: string | null
          created_at: number
          in_progress_at: number
          expires_at: number
          finalizing_at: number | null
          completed_at: number | null
          failed_at: null
          expired_at: number | null
          cancelling_at: number | null
          cancelled_at: number | null
          request_counts: {
            total: number
            completed: number
            failed: number
          }
          metadata: {
            [k: string]: string
          } | null
        }[]
        first_id: string | null
        last_id: string | null
        has_more: boolean
      }
    }
    /**
     * Um lote
     */
    '/batches/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'batch'
        endpoint: string
        errors: null
        input_file_id: string
        completion_window: '24h'
        status: 'in_progress' | 'completed' | 'expired' | 'cancelling' | 'cancelled'
        output_file_id: string | null
        error_file_id: string | null
        created_at: number
        in_progress_at: number
        expires_at: number
        finalizing_at: number | null
        completed_at: number | null
        failed_at: null
        expired_at: number | null
        cancelling_at: number | null
        cancelled_at: number | null
        request_counts: {
          total: number
          completed: number
          failed: number
        }
        metadata: {
          [k: string]: string
        } | null
      }
    }
    /**
     * Os lotes de Messages, do mais novo ao mais antigo
     */
    '/messages/batches': {
      query: {
        limit?: number
        after_id?: string
        before_id?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        data: {
          id: string
          type: 'message_batch'
          processing_status: 'in_progress' | 'canceling' | 'ended'
          request_counts: {
            processing: number
            succeeded: number
            errored: number
            canceled: number
            expired: number
          }
          created_at: string
          expires_at: string
          ended_at: string | null
          cancel_initiated_at: string | null
          archived_at: null
          results_url: string | null
        }[]
        first_id: string | null
        last_id: string | null
        has_more: boolean
      }
    }
    /**
     * Um lote de Messages
     */
    '/messages/batches/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        type: 'message_batch'
        processing_status: 'in_progress' | 'canceling' | 'ended'
        request_counts: {
          processing: number
          succeeded: number
          errored: number
          canceled: number
          expired: number
        }
        created_at: string
        expires_at: string
        ended_at: string | null
        cancel_initiated_at: string | null
        archived_at: null
        results_url: string | null
      }
    }
    /**
     * Os resultados de um lote de Messages que terminou, um por linha
     */
    '/messages/batches/{id}/results': {
      path: {
        id: string
      }
      answer: string
    }
    /**
     * Um vídeo pedido, com o estado dele
     */
    '/videos/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'video'
        model: string
        status: 'queued' | 'in_progress' | 'completed' | 'failed'
        progress: number
        created_at: number
        completed_at: number | null
        expires_at: number | null
        /**
         * Os pedidos; depois de pronto, os que foram cobrados.
         */
        seconds: string
        size: string | null
        /**
         * O prompt não é guardado.
         */
        prompt: null
        remixed_from_video_id: null
        error: {
          code: string
          message: string
        } | null
        cost_billed_brl: number | null
      }
    }
    /**
     * O arquivo de um vídeo que ficou pronto
     */
    '/videos/{id}/content': {
      path: {
        id: string
      }
      query: {
        variant?: 'video'
      }
      answer: string
    }
    /**
     * Uma imagem gerada, por uma hora
     */
    '/files/images/{id}': {
      path: {
        id: string
      }
      answer: string
    }
    /**
     * O catálogo de modelos
     */
    '/models': {
      query: {
        category?: 'llm' | 'image' | 'video' | 'embedding' | 'audio' | 'chat'
        /**
         * Só com o cabeçalho anthropic-version, que pede o catálogo no formato Messages.
         */
        limit?: number
        /**
         * Só com o cabeçalho anthropic-version, que pede o catálogo no formato Messages.
         */
        after_id?: string
        /**
         * Só com o cabeçalho anthropic-version, que pede o catálogo no formato Messages.
         */
        before_id?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        models: {
          id: string
          display_name: string
          category: 'llm' | 'image' | 'video' | 'embedding' | 'audio'
          /**
           * O que o modelo faz, com o nome das chamadas dele; a categoria pode ter várias.
           */
          operation:
            | 'chat'
            | 'embeddings'
            | 'rerank'
            | 'moderations'
            | 'images'
            | 'speech'
            | 'transcriptions'
            | 'videos'
          /**
           * Quem faz o modelo.
           */
          upstream: string
          markup_multiplier: number
          description: string | null
          /**
           * false: no momento nenhum provedor atende o modelo.
           */
          available: boolean
          /**
           * O dia, em UTC, em que o fabricante encerra o modelo; null sem data anunciada. As chamadas seguem enquanto ele responder.
           */
          ends_on: string | null
          /**
           * O modelo que o fabricante indica no lugar deste, se está no catálogo.
           */
          replaced_by: string | null
          /**
           * A próxima mudança de preço já marcada, que GET /model-prices mostra em BRL; null enquanto não há nenhuma.
           */
          planned: {
            starts_at: string
            markup_multiplier: number
          } | null
        }[]
        object: 'list'
        data: {
          id: string
          object: 'model'
          created: number
          owned_by: string
        }[]
      }
    }
    /**
     * Um modelo do catálogo
     */
    '/models/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'model'
        created: number
        owned_by: string
        display_name: string
        category: 'llm' | 'image' | 'video' | 'embedding' | 'audio'
        /**
         * O que o modelo faz, com o nome das chamadas dele; a categoria pode ter várias.
         */
        operation:
          | 'chat'
          | 'embeddings'
          | 'rerank'
          | 'moderations'
          | 'images'
          | 'speech'
          | 'transcriptions'
          | 'videos'
        /**
         * Quem faz o modelo.
         */
        upstream: string
        markup_multiplier: number
        description: string | null
        /**
         * false: no momento nenhum provedor atende o modelo.
         */
        available: boolean
        /**
         * O dia, em UTC, em que o fabricante encerra o modelo; null sem data anunciada. As chamadas seguem enquanto ele responder.
         */
        ends_on: string | null
        /**
         * O modelo que o fabricante indica no lugar deste, se está no catálogo.
         */
        replaced_by: string | null
        /**
         * A próxima mudança de preço já marcada, que GET /model-prices mostra em BRL; null enquanto não há nenhuma.
         */
        planned: {
          starts_at: string
          markup_multiplier: number
        } | null
      }
    }
    /**
     * Os preços de agora em BRL, com o câmbio e o multiplicador já aplicados
     */
    '/model-prices': {
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * A taxa em vigor; null, e nenhum preço, enquanto não há nenhuma.
         */
        fx_rate: {
          /**
           * BRL por USD, quatro decimais
           */
          rate: number
          rate_date: string
          source: string
          is_sandbox: boolean
        } | null
        prices: {
          model_id: string
          category: 'llm' | 'image' | 'video' | 'embedding' | 'audio'
          /**
           * false enquanto nenhum caminho leva ao modelo.
           */
          is_available: boolean
          /**
           * Items: BRL por milhão de tokens, em chamadas cujo prompt tem mais tokens que above_prompt_tokens.
           */
          tiers: {
            above_prompt_tokens: number
            /**
             * BRL
             */
            input_brl: number
            /**
             * BRL
             */
            cached_input_brl: number
            /**
             * BRL
             */
            cache_write_brl: number
            /**
             * BRL
             */
            output_brl: number
            /**
             * BRL
             */
            reasoning_brl: number
          }[]
          /**
           * BRL por unidade do que não é token de texto: audio_seconds, characters (que se falam), search_units (pesquisas de até 100 documentos), images, images:<tamanho>, video_seconds, video_seconds:<tamanho>, tokens de som e de imagem, web_searches (pesquisas na web). cache_write_1h_tokens é o acréscimo, por token, de guardar no cache por uma hora.
           */
          units: {
            /**
             * BRL
             */
            [k: string]: number
          }
          /**
           * A próxima mudança de preço já marcada, com o câmbio de agora; null enquanto não há nenhuma.
           */
          planned: {
            starts_at: string
            /**
             * Items: BRL por milhão de tokens, em chamadas cujo prompt tem mais tokens que above_prompt_tokens.
             */
            tiers: {
              above_prompt_tokens: number
              /**
               * BRL
               */
              input_brl: number
              /**
               * BRL
               */
              cached_input_brl: number
              /**
               * BRL
               */
              cache_write_brl: number
              /**
               * BRL
               */
              output_brl: number
              /**
               * BRL
               */
              reasoning_brl: number
            }[]
            /**
             * BRL por unidade do que não é token de texto: audio_seconds, characters (que se falam), search_units (pesquisas de até 100 documentos), images, images:<tamanho>, video_seconds, video_seconds:<tamanho>, tokens de som e de imagem, web_searches (pesquisas na web). cache_write_1h_tokens é o acréscimo, por token, de guardar no cache por uma hora.
             */
            units: {
              /**
               * BRL
               */
              [k: string]: number
            }
          } | null
          context_tokens: number
          output_tokens_max: number
          supports_tools: boolean
          /**
           * Se o prompt pode ter imagens.
           */
          supports_images: boolean
        }[]
      }
    }
    /**
     * A rapidez de cada modelo nos últimos dias, nas respostas em stream de todos
     */
    '/model-speeds': {
      query: {
        /**
         * Só este modelo, e dia a dia.
         */
        model_id?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        days: number
        /**
         * Atualizada uma vez por hora, sem as respostas do cache. Um número só aparece com ao menos 10 respostas de ao menos 3 clientes, e um modelo só com algum número.
         */
        models: {
          model_id: string
          /**
           * Do pedido ao modelo até o primeiro byte, mediana.
           */
          first_byte_ms: number | null
          /**
           * Tokens da resposta por segundo depois do primeiro byte, mediana; sem as respostas curtas e as que têm tokens de raciocínio.
           */
          tokens_per_second: number | null
          /**
           * Os dias de Brasília, do mais antigo ao mais novo; null sem model_id.
           */
          by_day:
            | {
                day: string
                /**
                 * Do pedido ao modelo até o primeiro byte, mediana.
                 */
                first_byte_ms: number | null
                /**
                 * Tokens da resposta por segundo depois do primeiro byte, mediana; sem as respostas curtas e as que têm tokens de raciocínio.
                 */
                tokens_per_second: number | null
              }[]
            | null
        }[]
      }
    }
    /**
     * As taxas de câmbio aplicadas, as mais novas primeiro
     */
    '/fx-rates': {
      query: {
        /**
         * Primeira data da taxa (AAAA-MM-DD).
         */
        from?: string
        /**
         * Última data da taxa, incluída.
         */
        to?: string
        limit?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        mode: 'live' | 'sandbox'
        fx_rates: {
          id: number
          /**
           * BRL por USD, quatro decimais
           */
          rate: number
          rate_date: string
          bulletin_at: string | null
          source: string
          is_sandbox: boolean
          applied_from: string | null
          applied_until: string | null
        }[]
      }
    }
    /**
     * Se o serviço está no ar
     */
    '/healthz': {
      /**
       * Tudo certo.
       */
      answer: {
        status: 'ok'
        mode: 'sandbox' | 'live'
      }
    }
    /**
     * Se o banco de dados responde; 503 se não
     */
    '/healthz/db': {
      /**
       * Tudo certo.
       */
      answer: {
        ok: boolean
        latency_ms: number
        timestamp: string
      }
    }
    /**
     * Disponibilidade e latência por provedor
     */
    '/upstream-health': {
      query: {
        days?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        days: number
        providers: {
          provider: string
          requests: number
          uptime_percent: number
          p50_ms: number | null
          p95_ms: number | null
          /**
           * Os dias de Brasília com chamadas, do mais antigo ao mais novo.
           */
          by_day: {
            day: string
            uptime_percent: number
          }[]
        }[]
      }
    }
    /**
     * Incidentes abertos, os que acabaram há pouco e o que está fora do ar
     */
    '/incidents/active': {
      /**
       * Tudo certo.
       */
      answer: {
        incidents: {
          id: string
          title: string
          message: string
          severity: 'minor' | 'major' | 'critical'
          models: string[]
          providers: string[]
          started_at: string
          status: 'open'
          updated_at: string
        }[]
        /**
         * Os que acabaram nos últimos 30 dias, os mais novos primeiro.
         */
        resolved: {
          id: string
          title: string
          message: string
          severity: 'minor' | 'major' | 'critical'
          models: string[]
          providers: string[]
          started_at: string
          status: 'resolved'
          resolved_at: string
        }[]
        /**
         * Ids dos modelos que a operação tirou do ar.
         */
        models_out_of_service: string[]
        /**
         * A operação pausou todas as chamadas de modelos.
         */
        calls_paused: boolean
      }
    }
    /**
     * O saldo e as cobranças mais novas
     */
    '/usage': {
      /**
       * Tudo certo.
       */
      answer: {
        balance: {
          /**
           * total_topped_up_brl + total_other_credits_brl - total_spent_brl - total_refunded_brl - total_other_debits_brl
           */
          balance_brl: number
          /**
           * Recargas pagas.
           */
          total_topped_up_brl: number
          /**
           * Créditos promocionais, recompensas e ajustes a favor.
           */
          total_other_credits_brl: number
          /**
           * Cobranças de uso.
           */
          total_spent_brl: number
          /**
           * Reembolsos, também os que estão a caminho.
           */
          total_refunded_brl: number
          /**
           * Contestações, ajustes e recompensas retiradas.
           */
          total_other_debits_brl: number
        }
        usage_events: {
          id: string
          request_id: string
          model_id: string
          api_key_id: string | null
          api_key_name: string | null
          team_id: string | null
          session_id: string | null
          prompt_tokens: number | null
          cached_tokens: number | null
          cache_write_tokens: number | null
          completion_tokens: number | null
          reasoning_tokens: number | null
          units: {
            [k: string]: number
          } | null
          usage_kind: 'exact' | 'estimated' | 'none'
          /**
           * BRL
           */
          cost_billed_brl: number
          /**
           * USD
           */
          cost_upstream_usd: number
          fx_rate: number
          fx_rate_date: string
          fx_rate_source: string
          markup_multiplier: number
          corrects_id: string | null
          created_at: string
        }[]
      }
    }
    /**
     * As cobranças, das mais novas para as mais antigas, página por página
     */
    '/usage/events': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
        /**
         * Primeiro dia (AAAA-MM-DD), no fuso do cliente.
         */
        from?: string
        /**
         * Último dia (AAAA-MM-DD), incluído; sem ele, até agora.
         */
        to?: string
        model_id?: string
        api_key_id?: string
        session_id?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        usage_events: {
          id: string
          request_id: string
          model_id: string
          api_key_id: string | null
          api_key_name: string | null
          team_id: string | null
          session_id: string | null
          prompt_tokens: number | null
          cached_tokens: number | null
          cache_write_tokens: number | null
          completion_tokens: number | null
          reasoning_tokens: number | null
          units: {
            [k: string]: number
          } | null
          usage_kind: 'exact' | 'estimated' | 'none'
          /**
           * BRL
           */
          cost_billed_brl: number
          /**
           * USD
           */
          cost_upstream_usd: number
          fx_rate: number
          fx_rate_date: string
          fx_rate_source: string
          markup_multiplier: number
          corrects_id: string | null
          created_at: string
        }[]
        next_cursor: string | null
        /**
         * As chamadas de antes estão arquivadas: vêm nas exportações, não nesta lista. null: nenhuma.
         */
        archived_before: string | null
      }
    }
    /**
     * As chamadas, também as que falharam sem custo, das mais novas para as mais antigas
     */
    '/usage/calls': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
        /**
         * Primeiro dia (AAAA-MM-DD), no fuso do cliente.
         */
        from?: string
        /**
         * Último dia (AAAA-MM-DD), incluído; sem ele, até agora.
         */
        to?: string
        model_id?: string
        api_key_id?: string
        session_id?: string
        status?: 'charged' | 'failed'
      }
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * As que foram recusadas antes de chegar a um modelo (saldo, limites, chave, requisição inválida) são contadas em GET /usage/refusals.
         */
        calls: {
          id: string
          request_id: string
          model_id: string
          api_key_id: string | null
          api_key_name: string | null
          team_id: string | null
          session_id: string | null
          prompt_tokens: number | null
          cached_tokens: number | null
          cache_write_tokens: number | null
          completion_tokens: number | null
          reasoning_tokens: number | null
          units: {
            [k: string]: number
          } | null
          usage_kind: 'exact' | 'estimated' | 'none'
          /**
           * BRL
           */
          cost_billed_brl: number
          /**
           * USD
           */
          cost_upstream_usd: number
          fx_rate: number
          fx_rate_date: string
          fx_rate_source: string
          markup_multiplier: number
          corrects_id: string | null
          created_at: string
          status: 'charged' | 'failed'
          /**
           * Por que a chamada falhou, sem custo: client_left, o cliente desligou antes da resposta; request_refused, o modelo não aceitou a requisição; model_busy, limite ou lotação do modelo; model_slow, não respondeu a tempo; model_failed, falha do modelo; service_failed, falha nossa.
           */
          failure:
            | (
                | 'client_left'
                | 'request_refused'
                | 'model_busy'
                | 'model_slow'
                | 'model_failed'
                | 'service_failed'
              )
            | null
          is_stream: boolean
          /**
           * Do pedido ao modelo até o primeiro byte.
           */
          first_byte_ms: number | null
          /**
           * Do pedido ao modelo até o fim da resposta.
           */
          duration_ms: number | null
          tokens_per_second: number | null
          /**
           * Quanto a mais a chamada custaria sem cache: os tokens lidos do cache do modelo, como entrada comum, ou a resposta reaproveitada (x-svc-cache), como uma nova.
           */
          cache_saved_brl: number
          /**
           * Quanto a mais o mesmo uso custaria pelo preço mais alto que podia valer para a chamada, o que foi reservado: o da rota mais cara que podia responder, ou o de outro horário.
           */
          routing_saved_brl: number
        }[]
        next_cursor: string | null
        /**
         * As chamadas de antes estão arquivadas: vêm nas exportações, não nesta lista. null: nenhuma.
         */
        archived_before: string | null
      }
    }
    /**
     * Quantas chamadas tiveram um erro como resposta, por motivo e ao longo do período
     */
    '/usage/refusals': {
      query: {
        /**
         * Primeiro dia (AAAA-MM-DD), no fuso do cliente.
         */
        from?: string
        /**
         * Último dia (AAAA-MM-DD), incluído; sem ele, até agora.
         */
        to?: string
        model_id?: string
        api_key_id?: string
        /**
         * O código do erro.
         */
        code?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        from: string
        to: string
        refusals: number
        /**
         * Do mais frequente ao mais raro.
         */
        reasons: {
          /**
           * O código do erro, como em error.code da resposta.
           */
          code: string
          /**
           * O status HTTP; o de um stream que já tinha começado, que ele teria.
           */
          status: number
          /**
           * Quantas chamadas.
           */
          refusals: number
          first_at: string
          last_at: string
        }[]
        step: 'hour' | 'day'
        /**
         * Só as partes com alguma.
         */
        parts: {
          starts_at: string
          refusals: number
        }[]
      }
    }
    /**
     * As chamadas com erro de cada hora, chave, modelo e motivo, das mais novas às antigas
     */
    '/usage/refusals/by-hour': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
        /**
         * Primeiro dia (AAAA-MM-DD), no fuso do cliente.
         */
        from?: string
        /**
         * Último dia (AAAA-MM-DD), incluído; sem ele, até agora.
         */
        to?: string
        model_id?: string
        api_key_id?: string
        /**
         * O código do erro.
         */
        code?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        refusals: {
          /**
           * O começo da hora, em UTC.
           */
          hour_at: string
          /**
           * null: numa hora com mais chaves e modelos do que se contam um a um.
           */
          api_key_id: string | null
          api_key_name: string | null
          /**
           * null: a chamada não pedia um modelo do catálogo, ou nem chegou a ser lida.
           */
          model_id: string | null
          /**
           * O código do erro, como em error.code da resposta.
           */
          code: string
          /**
           * O status HTTP; o de um stream que já tinha começado, que ele teria.
           */
          status: number
          /**
           * Quantas chamadas.
           */
          refusals: number
          first_at: string
          last_at: string
        }[]
        next_cursor: string | null
      }
    }
    /**
     * O gasto de um período, por dia, semana ou mês, de cada modelo, chave, equipe ou sessão
     */
    '/usage/spend': {
      query: {
        /**
         * Primeiro dia (AAAA-MM-DD), no fuso do cliente.
         */
        from?: string
        /**
         * Último dia (AAAA-MM-DD), incluído; sem ele, até agora.
         */
        to?: string
        by?: 'model' | 'key' | 'team' | 'session'
      }
      /**
       * Tudo certo.
       */
      answer: {
        from: string
        to: string
        step: 'day' | 'week' | 'month'
        /**
         * BRL
         */
        cost_billed_brl: number
        requests: number
        /**
         * Do que mais custou ao que menos custou; o resto por último.
         *
         * @maxItems 10
         */
        groups: {
          id: string | null
          name: string | null
          /**
           * Chamadas cobradas.
           */
          requests: number
          /**
           * Chamadas que falharam e não custaram nada.
           */
          failed_requests: number
          /**
           * BRL
           */
          cost_billed_brl: number
        }[]
        /**
         * Só as partes com uso.
         */
        parts: {
          /**
           * No fuso do cliente.
           */
          starts_on: string
          /**
           * BRL
           */
          cost_billed_brl: number
          /**
           * De cada grupo, na mesma ordem.
           *
           * Items: BRL
           */
          costs_brl: number[]
        }[]
      }
    }
    /**
     * Todas as cobranças de um período, em CSV
     */
    '/usage/export.csv': {
      query: {
        /**
         * Primeiro dia (AAAA-MM-DD), no fuso do cliente.
         */
        from?: string
        /**
         * Último dia (AAAA-MM-DD), incluído; sem ele, até agora.
         */
        to?: string
      }
      answer: string
    }
    /**
     * Todas as cobranças de um período, em JSON
     */
    '/usage/export.json': {
      query: {
        /**
         * Primeiro dia (AAAA-MM-DD), no fuso do cliente.
         */
        from?: string
        /**
         * Último dia (AAAA-MM-DD), incluído; sem ele, até agora.
         */
        to?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        period: {
          from: string
          to: string
          timezone: string
          from_at: string
          until_at: string
        }
        total_events: number
        events: {
          id: string
          request_id: string
          model_id: string
          api_key_id: string | null
          api_key_name: string | null
          team_id: string | null
          session_id: string | null
          prompt_tokens: number | null
          cached_tokens: number | null
          cache_write_tokens: number | null
          completion_tokens: number | null
          reasoning_tokens: number | null
          units: {
            [k: string]: number
          } | null
          usage_kind: 'exact' | 'estimated' | 'none'
          /**
           * BRL
           */
          cost_billed_brl: number
          /**
           * USD
           */
          cost_upstream_usd: number
          fx_rate: number
          fx_rate_date: string
          fx_rate_source: string
          markup_multiplier: number
          corrects_id: string | null
          created_at: string
        }[]
      }
    }
    /**
     * O extrato de um mês: saldo inicial, entradas, uso, saídas e saldo final
     */
    '/statement': {
      query: {
        /**
         * AAAA-MM, no fuso do cliente; sem ele, o mês corrente.
         */
        month?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * AAAA-MM
         */
        month: string
        timezone: string
        from_at: string
        /**
         * Exclusivo.
         */
        until_at: string
        /**
         * O saldo no começo do mês.
         */
        opening_balance_brl: number
        /**
         * Recargas pagas.
         */
        total_topped_up_brl: number
        /**
         * Créditos promocionais, recompensas e ajustes a favor.
         */
        total_other_credits_brl: number
        /**
         * Cobranças de uso.
         */
        total_spent_brl: number
        /**
         * Reembolsos, também os que estão a caminho.
         */
        total_refunded_brl: number
        /**
         * Contestações, ajustes e recompensas retiradas.
         */
        total_other_debits_brl: number
        /**
         * opening_balance_brl + total_topped_up_brl + total_other_credits_brl - total_spent_brl - total_refunded_brl - total_other_debits_brl. No mês corrente, o saldo de agora.
         */
        closing_balance_brl: number
        /**
         * O que entrou e saiu sem ser uso, do mais antigo ao mais novo.
         *
         * @maxItems 500
         */
        movements: {
          id: string
          at: string
          kind: 'topup' | 'other_credit' | 'refund' | 'returned_refund' | 'other_debit'
          /**
           * Negativo se saiu.
           */
          amount_brl: number
        }[]
        /**
         * Além dos primeiros 500.
         */
        movements_left_out: number
      }
    }
    /**
     * O extrato de um mês, em PDF
     */
    '/statement.pdf': {
      query: {
        /**
         * AAAA-MM, no fuso do cliente; sem ele, o mês corrente.
         */
        month?: string
      }
      answer: string
    }
    /**
     * O uso dos últimos dias em resumo
     */
    '/me/usage-summary': {
      query: {
        days?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        period_days: number
        /**
         * total_topped_up_brl + total_other_credits_brl - total_spent_brl - total_refunded_brl - total_other_debits_brl
         */
        balance_brl: number
        /**
         * Recargas pagas.
         */
        total_topped_up_brl: number
        /**
         * Créditos promocionais, recompensas e ajustes a favor.
         */
        total_other_credits_brl: number
        /**
         * Cobranças de uso.
         */
        total_spent_brl: number
        /**
         * Reembolsos, também os que estão a caminho.
         */
        total_refunded_brl: number
        /**
         * Contestações, ajustes e recompensas retiradas.
         */
        total_other_debits_brl: number
        /**
         * As cobranças dos últimos dias do seu fuso horário, hoje incluído.
         */
        period_totals: {
          requests: number
          /**
           * BRL
           */
          cost_billed_brl: number
          /**
           * USD
           */
          cost_upstream_usd: number
          prompt_tokens: number
          completion_tokens: number
        }
        /**
         * Os que mais custaram.
         *
         * @maxItems 3
         */
        top_models: {
          model_id: string
          model_name: string
          requests: number
          /**
           * BRL
           */
          cost_billed_brl: number
        }[]
        unique_models_used: number
      }
    }
    /**
     * O uso de cada chave nos últimos dias
     */
    '/usage/by-key': {
      query: {
        days?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        days: number
        keys: {
          api_key_id: string
          name: string
          last_four: string
          status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
          team_id: string | null
          /**
           * Chamadas cobradas.
           */
          requests: number
          /**
           * Chamadas que falharam e não custaram nada.
           */
          failed_requests: number
          prompt_tokens: number
          completion_tokens: number
          /**
           * BRL
           */
          cost_billed_brl: number
          /**
           * USD
           */
          cost_upstream_usd: number
          /**
           * Os que mais custaram.
           *
           * @maxItems 3
           */
          top_models: {
            model_id: string
            requests: number
            /**
             * BRL
             */
            cost_billed_brl: number
          }[]
          /**
           * Parte do custo de todas as chaves, com duas casas.
           */
          share_percent: number
        }[]
      }
    }
    /**
     * O uso de cada um dos últimos dias
     */
    '/usage/by-day': {
      query: {
        days?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        days: number
        /**
         * Do mais antigo até hoje; os dias sem uso também.
         *
         * @maxItems 90
         */
        by_day: {
          /**
           * No fuso do cliente.
           */
          day: string
          requests: number
          /**
           * Chamadas que falharam e não custaram nada.
           */
          failed_requests: number
          prompt_tokens: number
          completion_tokens: number
          /**
           * BRL
           */
          cost_billed_brl: number
        }[]
        /**
         * Quanto demoraram as últimas 500 chamadas cobradas, do pedido ao modelo ao fim da resposta.
         */
        latency: {
          calls: number
          p50_ms: number | null
          p95_ms: number | null
          first_byte_p50_ms: number | null
        }
      }
    }
    /**
     * O uso dos limites por minuto de cada chave ativa
     */
    '/usage/rate-limit': {
      query: {
        minutes?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        minutes: number
        keys: {
          api_key_id: string
          name: string
          last_four: string
          team_id: string | null
          requests_per_minute: {
            limit: number
            /**
             * Contado neste minuto, chamadas recusadas incluídas.
             */
            current: number
            /**
             * Por minuto, dos últimos minutos, este incluído; chamadas recusadas não contam.
             */
            average: number
            /**
             * O maior destes minutos.
             */
            peak: number
            peak_at: string | null
            headroom_percent: number
            peak_headroom_percent: number
          }
          /**
           * Numa chave sem limite de tokens, só contam chamadas que já terminaram.
           */
          tokens_per_minute: {
            limit: number | null
            /**
             * Contado neste minuto, chamadas recusadas incluídas.
             */
            current: number
            /**
             * Por minuto, dos últimos minutos, este incluído; chamadas recusadas não contam.
             */
            average: number
            /**
             * O maior destes minutos.
             */
            peak: number
            peak_at: string | null
            headroom_percent: number | null
            peak_headroom_percent: number | null
          }
        }[]
      }
    }
    /**
     * Os números da página inicial do painel
     */
    '/me/dashboard-stats': {
      /**
       * Tudo certo.
       */
      answer: {
        profile: {
          full_name: string
          cpf_cnpj: string
          phone: string | null
          postal_code: string | null
          street: string | null
          street_number: string | null
          complement: string | null
          district: string | null
          city: string | null
          state: string | null
          created_at: string
          updated_at: string
        } | null
        /**
         * BRL
         */
        balance_brl: number
        /**
         * Uma chave suspensa por falta de saldo conta como ativa; uma que expirou, em nenhum dos dois.
         */
        keys: {
          active: number
          revoked: number
        }
        topups: {
          paid: number
          total: number
        }
        notifications: {
          failed: number
          total: number
        }
      }
    }
    /**
     * Por quantos dias o saldo ainda dura
     */
    '/me/runway': {
      query: {
        days?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * BRL
         */
        balance_brl: number
        period_days: number
        /**
         * O gasto dos últimos dias dividido pelo número de dias, em BRL.
         */
        daily_avg_brl: number
        /**
         * Dias inteiros que o saldo dura; null com menos de R$ 0,01 por dia em média.
         */
        runway_days: number | null
        /**
         * O saldo dura menos de 7 dias.
         */
        critical: boolean
      }
    }
    /**
     * Modelos mais baratos para o uso que você faz
     */
    '/me/recommendations': {
      query: {
        days?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        days: number
        /**
         * BRL por mil tokens (prompt e resposta) do seu próprio uso; null no que não é cobrado por tokens de texto.
         */
        brl_per_1k_tokens: number | null
        models: {
          model_id: string
          model_name: string
          requests: number
          prompt_tokens: number
          completion_tokens: number
          /**
           * BRL
           */
          cost_billed_brl: number
          /**
           * BRL por mil tokens (prompt e resposta) do seu próprio uso; null no que não é cobrado por tokens de texto.
           */
          brl_per_1k_tokens: number | null
          /**
           * Modelos de chat que fazem o mesmo (ferramentas, imagens, áudio, contexto) por ao menos 10% e R$ 0,01 menos. Nunca de embeddings: os vetores de outro modelo não servem num índice que já existe. Nem de imagens, áudio e vídeo: cada modelo os conta a seu modo.
           *
           * @maxItems 3
           */
          suggestions: {
            model_id: string
            model_name: string
            /**
             * O mesmo uso neste modelo, com os preços, o câmbio e a margem de hoje. Supõe o mesmo número de tokens, todo o prompt fora do cache e a faixa de preço do prompt médio. O que os tokens não explicam (áudio, câmbio de outros dias) fica como foi cobrado.
             */
            projected_cost_brl: number
            /**
             * BRL
             */
            brl_per_1k_tokens: number
            /**
             * BRL
             */
            saving_brl: number
            saving_percent: number
          }[]
        }[]
        /**
         * O que o cache dos modelos e as respostas reaproveitadas já economizaram nesses dias, em BRL: a soma de cache_saved_brl das chamadas, até as 20.000 mais novas.
         */
        cache_saved_brl: number
        /**
         * O que a escolha da rota já economizou, contado do mesmo modo: a soma de routing_saved_brl.
         */
        routing_saved_brl: number
        /**
         * Com a melhor sugestão de cada modelo, em BRL.
         */
        total_saving_brl: number
      }
    }
    /**
     * Os destinos de uso: para onde vão as suas cobranças, uma a uma
     */
    '/usage/destinations': {
      /**
       * Tudo certo.
       */
      answer: {
        destinations: {
          id: string
          kind: 'langfuse' | 'otlp'
          url: string
          public_key: string | null
          header_names: string[]
          includes_content: boolean
          is_enabled: boolean
          disabled_at: string | null
          /**
           * customer: por você; failing: nada foi aceito por três dias.
           */
          disabled_reason: ('customer' | 'failing') | null
          created_at: string
          /**
           * Cobranças aceitas pelo destino.
           */
          sent: number
          /**
           * Cobranças que o destino recusou de vez.
           */
          rejected: number
          /**
           * Cobranças não enviadas em sete dias, e por isso descartadas.
           */
          given_up: number
          last_success_at: string | null
          /**
           * Falhas seguidas.
           */
          failures: number
          failing_since: string | null
          last_failed_at: string | null
          last_error:
            | (
                | 'timeout'
                | 'refused_address'
                | 'https_required'
                | 'connection_failed'
                | 'redirect'
                | 'unauthorized'
                | 'not_found'
                | 'http_status'
                | 'spans_refused'
                | 'batch_refused'
                | 'batch_too_large'
                | 'secret_unreadable'
              )
            | null
          last_http_status: number | null
          last_answer: string | null
          /**
           * Depois de uma falha.
           */
          next_try_at: string | null
          test: {
            asked_at: string
            tested_at: string | null
            error:
              | (
                  | 'timeout'
                  | 'refused_address'
                  | 'https_required'
                  | 'connection_failed'
                  | 'redirect'
                  | 'unauthorized'
                  | 'not_found'
                  | 'http_status'
                  | 'spans_refused'
                  | 'batch_refused'
                  | 'batch_too_large'
                  | 'secret_unreadable'
                )
              | null
          } | null
        }[]
      }
    }
    /**
     * Um destino de uso
     */
    '/usage/destinations/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        kind: 'langfuse' | 'otlp'
        url: string
        public_key: string | null
        header_names: string[]
        includes_content: boolean
        is_enabled: boolean
        disabled_at: string | null
        /**
         * customer: por você; failing: nada foi aceito por três dias.
         */
        disabled_reason: ('customer' | 'failing') | null
        created_at: string
        /**
         * Cobranças aceitas pelo destino.
         */
        sent: number
        /**
         * Cobranças que o destino recusou de vez.
         */
        rejected: number
        /**
         * Cobranças não enviadas em sete dias, e por isso descartadas.
         */
        given_up: number
        last_success_at: string | null
        /**
         * Falhas seguidas.
         */
        failures: number
        failing_since: string | null
        last_failed_at: string | null
        last_error:
          | (
              | 'timeout'
              | 'refused_address'
              | 'https_required'
              | 'connection_failed'
              | 'redirect'
              | 'unauthorized'
              | 'not_found'
              | 'http_status'
              | 'spans_refused'
              | 'batch_refused'
              | 'batch_too_large'
              | 'secret_unreadable'
            )
          | null
        last_http_status: number | null
        last_answer: string | null
        /**
         * Depois de uma falha.
         */
        next_try_at: string | null
        test: {
          asked_at: string
          tested_at: string | null
          error:
            | (
                | 'timeout'
                | 'refused_address'
                | 'https_required'
                | 'connection_failed'
                | 'redirect'
                | 'unauthorized'
                | 'not_found'
                | 'http_status'
                | 'spans_refused'
                | 'batch_refused'
                | 'batch_too_large'
                | 'secret_unreadable'
              )
            | null
        } | null
      }
    }
    /**
     * As sessões, as de uso mais recente primeiro
     */
    '/me/sessions': {
      query: {
        days?: number
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        days: number
        count: number
        sessions: {
          session_id: string
          request_count: number
          /**
           * BRL
           */
          total_billed_brl: number
          total_prompt_tokens: number
          total_completion_tokens: number
          total_tokens: number
          models: string[]
          first_request_at: string
          last_request_at: string
          duration_ms: number
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Uma sessão e suas cobranças, em ordem cronológica
     */
    '/me/sessions/{id}': {
      path: {
        id: string
      }
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        session_id: string
        request_count: number
        /**
         * BRL
         */
        total_billed_brl: number
        events: {
          id: string
          request_id: string
          model_id: string
          api_key_id: string | null
          api_key_name: string | null
          team_id: string | null
          session_id: string | null
          prompt_tokens: number | null
          cached_tokens: number | null
          cache_write_tokens: number | null
          completion_tokens: number | null
          reasoning_tokens: number | null
          units: {
            [k: string]: number
          } | null
          usage_kind: 'exact' | 'estimated' | 'none'
          /**
           * BRL
           */
          cost_billed_brl: number
          /**
           * USD
           */
          cost_upstream_usd: number
          fx_rate: number
          fx_rate_date: string
          fx_rate_source: string
          markup_multiplier: number
          corrects_id: string | null
          created_at: string
        }[]
        next_cursor: string | null
        /**
         * As chamadas de antes estão arquivadas: vêm nas exportações, não nesta lista. null: nenhuma.
         */
        archived_before: string | null
      }
    }
    /**
     * As contas públicas, das mais novas para as mais antigas
     */
    '/me/public-bills': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        public_bills: {
          id: string
          /**
           * Quem tem este endereço lê a conta, sem entrar.
           */
          url: string
          usage_event_id: string | null
          session_id: string | null
          created_at: string
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Uma conta pública, com a prova de que está no livro
     */
    '/public-bills/{token}': {
      path: {
        token: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        kind: 'charge' | 'session'
        created_at: string
        /**
         * A sessão tem mais cobranças do que a conta mostra.
         */
        has_more: boolean
        charges: {
          /**
           * O texto que o livro cobre: a cobrança, em JSON.
           */
          text: string
          fx_rate_date: string
          fx_rate_source: string
          proof: {
            seal: number
            path: {
              side: 'left' | 'right'
              /**
               * SHA-256, em hexadecimal.
               */
              hash: string
            }[]
            /**
             * SHA-256, em hexadecimal.
             */
            head: string
          } | null
        }[]
        days: {
          day: string
          /**
           * O selo do livro antes deste dia; vazio no primeiro dia.
           */
          before: string
          seals: {
            number: number
            from: string
            to: string
            /**
             * SHA-256, em hexadecimal.
             */
            root: string
          }[]
          /**
           * SHA-256, em hexadecimal.
           */
          head: string
        }[]
      }
    }
    /**
     * Os selos do livro de cobranças, um por dia (UTC), do mais novo ao mais antigo
     */
    '/charge-chain': {
      query: {
        limit?: number
        /**
         * Só os dias antes deste.
         */
        before?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        days: {
          day: string
          seal: number
          head: string
        }[]
      }
    }
    /**
     * As chaves, das mais novas às mais antigas
     */
    '/api-keys': {
      query: {
        status?: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
        /**
         * Parte do nome, ou o fim do segredo.
         */
        q?: string
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        api_keys: {
          id: string
          name: string
          last_four: string
          status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
          scope: 'calls' | 'account' | 'manage' | 'operator'
          model_ids: string[] | null
          ip_allowlist: string[] | null
          requests_per_minute: number
          tokens_per_minute: number | null
          /**
           * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
           */
          shield: {
            /**
             * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
             */
            action: 'off' | 'mask' | 'block'
            /**
             * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
             */
            uuids: 'near_pix' | 'always'
          } | null
          budget: {
            /**
             * USD
             */
            limit_usd: number
            period: 'day' | 'month' | 'lifetime'
            /**
             * USD
             */
            spent_usd: number
          } | null
          minute_cap_brl: number | null
          minute_cap_used_brl: number | null
          day_cap_brl: number | null
          day_cap_used_brl: number | null
          task_cap_brl: number | null
          calls_at_once: number | null
          cache_seconds: number | null
          auto_cache: boolean
          team_id: string | null
          last_used_at: string | null
          created_at: string
          expires_at: string | null
          paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
          revoked_at: string | null
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Uma chave
     */
    '/api-keys/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        last_four: string
        status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
        scope: 'calls' | 'account' | 'manage' | 'operator'
        model_ids: string[] | null
        ip_allowlist: string[] | null
        requests_per_minute: number
        tokens_per_minute: number | null
        /**
         * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
         */
        shield: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        } | null
        budget: {
          /**
           * USD
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
          /**
           * USD
           */
          spent_usd: number
        } | null
        minute_cap_brl: number | null
        minute_cap_used_brl: number | null
        day_cap_brl: number | null
        day_cap_used_brl: number | null
        task_cap_brl: number | null
        calls_at_once: number | null
        cache_seconds: number | null
        auto_cache: boolean
        team_id: string | null
        last_used_at: string | null
        created_at: string
        expires_at: string | null
        paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
        revoked_at: string | null
      }
    }
    /**
     * Os prompts salvos, o último alterado primeiro
     */
    '/me/prompts': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
        /**
         * Só os que têm esta tag.
         */
        tag?: string
        /**
         * Procura no nome e na descrição.
         */
        q?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        prompts: {
          id: string
          slug: string
          name: string
          description: string | null
          body: string
          variables: string[]
          tags: string[]
          default_model: string | null
          /**
           * O que vale nas chamadas com o modelo "@preset/<slug>". Os campos da própria chamada valem mais.
           */
          parameters: {
            /**
             * O máximo da resposta, também para quem pede mais.
             */
            max_tokens?: number
            temperature?: number
            top_p?: number
            /**
             * Quem pode responder, como em POST /chat/completions.
             */
            provider?: {
              [k: string]: unknown
            }
          }
          /**
           * Cresce quando o texto muda.
           */
          version: number
          created_at: string
          updated_at: string
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Um prompt salvo
     */
    '/me/prompts/{id}': {
      path: {
        /**
         * UUID
         */
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        slug: string
        name: string
        description: string | null
        body: string
        variables: string[]
        tags: string[]
        default_model: string | null
        /**
         * O que vale nas chamadas com o modelo "@preset/<slug>". Os campos da própria chamada valem mais.
         */
        parameters: {
          /**
           * O máximo da resposta, também para quem pede mais.
           */
          max_tokens?: number
          temperature?: number
          top_p?: number
          /**
           * Quem pode responder, como em POST /chat/completions.
           */
          provider?: {
            [k: string]: unknown
          }
        }
        /**
         * Cresce quando o texto muda.
         */
        version: number
        created_at: string
        updated_at: string
      }
    }
    /**
     * As versões de um prompt, da mais nova à primeira
     */
    '/me/prompts/{id}/versions': {
      path: {
        /**
         * UUID
         */
        id: string
      }
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        versions: {
          version: number
          body: string
          change_note: string | null
          created_at: string
        }[]
        next_cursor: string | null
      }
    }
    /**
     * As execuções cobradas de um prompt, por sessão, da mais nova à mais antiga
     */
    '/me/prompts/{id}/runs': {
      path: {
        /**
         * UUID
         */
        id: string
      }
      query: {
        limit?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        runs: {
          session_id: string
          request_count: number
          models: string[]
          total_prompt_tokens: number
          total_completion_tokens: number
          total_tokens: number
          /**
           * BRL
           */
          total_billed_brl: number
          first_request_at: string
          last_request_at: string
        }[]
      }
    }
    /**
     * Quem está na sessão do painel, ou de quem é a chave
     */
    '/session': {
      /**
       * Tudo certo.
       */
      answer: {
        customer: {
          id: string
          name: string
          email: string | null
        }
        /**
         * Os termos de uso em vigor ainda não foram aceitos. O painel pede o aceite antes de continuar; uma chave não precisa dele.
         */
        must_accept_terms: boolean
        /**
         * Opera o serviço: tem um papel, o do `operator_role`.
         */
        is_admin: boolean
        operator_role: ('support' | 'finance' | 'admin') | null
        /**
         * Opera o serviço, mas nesta sessão ainda sem a segunda etapa.
         */
        needs_second_factor: boolean
        /**
         * O valor do cabeçalho x-csrf-token, que toda requisição de uma sessão leva. Nas GET ele pode faltar, mas o de outra sessão é recusado. Vazio para uma chave, que não precisa dele.
         */
        csrf_token: string
        suspension: {
          since: string
          cause: 'chargeback' | 'operator'
          /**
           * O motivo, escrito para o cliente.
           */
          reason: string
        } | null
        /**
         * sandbox: nada custa dinheiro de verdade.
         */
        mode: 'sandbox' | 'live'
      }
    }
    /**
     * O perfil: quem paga, com CPF ou CNPJ e endereço
     */
    '/me/profile': {
      /**
       * Tudo certo.
       */
      answer: {
        full_name: string
        cpf_cnpj: string
        phone: string | null
        postal_code: string | null
        street: string | null
        street_number: string | null
        complement: string | null
        district: string | null
        city: string | null
        state: string | null
        created_at: string
        updated_at: string
        flags: {
          has_cpf_cnpj: boolean
          can_top_up: boolean
          is_company: boolean
          /**
           * CEP, logradouro, número, município e UF.
           */
          has_address: boolean
          weekly_digest_enabled: boolean
        }
      }
    }
    /**
     * As preferências
     */
    '/me/preferences': {
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * Fuso horário da IANA, como America/Sao_Paulo.
         */
        timezone: string
        preferred_locale: string
        weekly_digest_enabled: boolean
        /**
         * Avisos de saldo baixo por e-mail. O de saldo zerado vai sempre, e os webhooks recebem os dois.
         */
        low_balance_email_enabled: boolean
        /**
         * Um e-mail quando um incidente começa e outro quando acaba. Desligado até que a conta o peça.
         */
        incident_email_enabled: boolean
        stored_responses_days: number | null
      }
    }
    /**
     * A proteção de dados pessoais (LGPD) da conta
     */
    '/me/shield': {
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
         */
        action: 'off' | 'mask' | 'block'
        /**
         * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
         */
        uuids: 'near_pix' | 'always'
      }
    }
    /**
     * O que a proteção de dados pessoais encontrou nos últimos dias, sem os valores
     */
    '/me/shield/report': {
      query: {
        days?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        days: number
        by_kind: {
          /**
           * cpf, cnpj, email, phone, card ou pix_key.
           */
          kind: string
          /**
           * Dados que foram ao modelo como marcadores.
           */
          masked: number
          /**
           * Dados que estavam em chamadas recusadas.
           */
          blocked: number
        }[]
        /**
         * Do mais antigo até hoje, no fuso do cliente, só os dias em que houve algo.
         */
        by_day: {
          day: string
          /**
           * Dados que foram ao modelo como marcadores.
           */
          masked: number
          /**
           * Dados que estavam em chamadas recusadas.
           */
          blocked: number
        }[]
        by_key: {
          api_key_id: string
          name: string
          /**
           * Dados que foram ao modelo como marcadores.
           */
          masked: number
          /**
           * Dados que estavam em chamadas recusadas.
           */
          blocked: number
        }[]
      }
    }
    /**
     * Quando uma chave que gasta muito mais que o habitual é pausada
     */
    '/me/spending-guard': {
      /**
       * Tudo certo.
       */
      answer: {
        factor: number | null
        /**
         * Abaixo deste valor em reais por hora, nada é gasto fora do padrão.
         */
        floor_brl: number
      }
    }
    /**
     * Os e-mails enviados, os mais novos primeiro
     */
    '/me/notifications': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * De todas, não só desta página.
         */
        total: number
        notifications: {
          id: string
          template: string
          sent_at: string
          status: 'sent' | 'failed'
          error: string | null
        }[]
        next_cursor: string | null
      }
    }
    /**
     * O código de indicação, e quem criou a conta com ele
     */
    '/me/referrals': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        referral_code: string
        share_text: string | null
        reward_rule: {
          /**
           * Em crédito promocional; 0: não há recompensa.
           */
          reward_brl: number
          /**
           * Idade da primeira recarga, sem devolução nem contestação.
           */
          withdrawal_days: number
          /**
           * O que a pessoa já gastou do que pagou.
           */
          spending_min_brl: number
        }
        referred_users: {
          name: string | null
          /**
           * `taken_back`: a recarga foi contestada ou devolvida, e a recompensa estornada.
           */
          status: 'registered' | 'rewarded' | 'taken_back'
          registered_at: string
          rewarded_at: string | null
          reward_brl: number | null
          taken_back_brl: number | null
        }[]
        next_cursor: string | null
        statistics: {
          /**
           * Todas as pessoas indicadas.
           */
          registered: number
          /**
           * Com recompensa que não foi estornada.
           */
          rewarded: number
          /**
           * Sem o que foi estornado.
           */
          total_reward_brl: number
        }
      }
    }
    /**
     * O crédito para experimentar
     */
    '/me/trial-credit': {
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * `offered`: a conta pode pedir, com um CPF ou CNPJ no perfil. `none`: não há crédito para esta conta.
         */
        status: 'offered' | 'granted' | 'none'
        /**
         * Crédito promocional: é gasto primeiro e não é devolvido.
         */
        amount_brl: number
        granted_at: string | null
      }
    }
    /**
     * Cópia de todos os dados da conta (LGPD)
     */
    '/me/export': {
      /**
       * Tudo certo.
       */
      answer: {
        export_version: number
        generated_at: string
        account: {
          id: string
          name: string
          email: string | null
          referral_code: string | null
          created_at: string
        }
        profile: {
          full_name: string | null
          cpf_cnpj: string | null
          phone: string | null
          postal_code: string | null
          street: string | null
          street_number: string | null
          complement: string | null
          district: string | null
          city: string | null
          state: string | null
          created_at: string | null
          updated_at: string | null
        }
        preferences: {
          timezone: string
          preferred_locale: string
          weekly_digest_enabled: boolean
          low_balance_email_enabled: boolean
          incident_email_enabled: boolean
          stored_responses_days: number | null
        }
        shield: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        }
        spending_guard: {
          factor: number | null
          /**
           * Abaixo deste valor em reais por hora, nada é gasto fora do padrão.
           */
          floor_brl: number
        }
        balance: {
          /**
           * total_topped_up_brl + total_other_credits_brl - total_spent_brl - total_refunded_brl - total_other_debits_brl
           */
          balance_brl: number
          /**
           * Recargas pagas.
           */
          total_topped_up_brl: number
          /**
           * Créditos promocionais, recompensas e ajustes a favor.
           */
          total_other_credits_brl: number
          /**
           * Cobranças de uso.
           */
          total_spent_brl: number
          /**
           * Reembolsos, também os que estão a caminho.
           */
          total_refunded_brl: number
          /**
           * Contestações, ajustes e recompensas retiradas.
           */
          total_other_debits_brl: number
        }
        /**
         * Os mais novos primeiro.
         */
        notifications: {
          id: string
          template: string
          sent_at: string
          status: 'sent' | 'failed'
          error: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        mails_waiting: {
          id: string
          template: string
          email: string | null
          data: {
            [k: string]: unknown
          } | null
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        topups: {
          id: string
          /**
           * BRL
           */
          amount_brl: number
          method: string
          status: string
          payment_method_id: string | null
          card_brand: string | null
          card_last_four: string | null
          is_automatic: boolean
          created_at: string
          paid_at: string | null
          /**
           * BRL
           */
          returned_brl: number
        }[]
        /**
         * Os mais novos primeiro.
         */
        payment_methods: {
          id: string
          brand: string | null
          last_four: string
          holder_name: string
          expiry_month: number
          expiry_year: number
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        automatic_topups: {
          is_enabled: boolean
          /**
           * BRL
           */
          threshold_brl: number
          /**
           * BRL
           */
          amount_brl: number
          payment_method_id: string | null
          monthly_limit_brl: number | null
          remote_ip: string
          failures_in_row: number
          disabled_reason: string | null
          created_at: string
          updated_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        refunds: {
          id: string
          /**
           * BRL
           */
          amount_brl: number
          kind: string
          status: string
          reason: string | null
          decision_note: string | null
          created_at: string
          ended_at: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        events: {
          id: string
          type: string
          data: {
            [k: string]: unknown
          }
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        api_keys: {
          id: string
          name: string
          last_four: string
          team_id: string | null
          model_ids: string[] | null
          ip_allowlist: string[] | null
          requests_per_minute: number
          tokens_per_minute: number | null
          shield_action: ('off' | 'mask' | 'block') | null
          shield_uuids: ('near_pix' | 'always') | null
          budget_period: string | null
          budget_limit_usd: number | null
          minute_cap_brl: number | null
          day_cap_brl: number | null
          task_cap_brl: number | null
          calls_at_once: number | null
          cache_seconds: number | null
          auto_cache: boolean
          created_at: string
          last_used_at: string | null
          expires_at: string | null
          revoked_at: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        shield_counts: {
          day: string
          api_key_id: string
          action: 'mask' | 'block'
          kind: string
          occurrences: number
        }[]
        /**
         * Os mais novos primeiro.
         */
        usage_refusals: {
          hour_at: string
          api_key_id: string | null
          model_id: string | null
          code: string
          status: number
          refusals: number
          first_at: string
          last_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        prompts: {
          id: string
          slug: string
          name: string
          description: string | null
          variables: string[]
          tags: string[]
          default_model: string | null
          /**
           * O que vale nas chamadas com o modelo "@preset/<slug>". Os campos da própria chamada valem mais.
           */
          parameters: {
            /**
             * O máximo da resposta, também para quem pede mais.
             */
            max_tokens?: number
            temperature?: number
            top_p?: number
            /**
             * Quem pode responder, como em POST /chat/completions.
             */
            provider?: {
              [k: string]: unknown
            }
          }
          version: number
          created_at: string
          updated_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        prompt_versions: {
          prompt_id: string
          version: number
          body: string
          change_note: string | null
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        sessions: {
          session_id: string
          requests: number
          prompt_tokens: number
          completion_tokens: number
          /**
           * BRL
           */
          cost_billed_brl: number
          model_ids: string[]
          first_request_at: string
          last_request_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        usage_by_month: {
          month: string
          model_id: string
          requests: number
          prompt_tokens: number
          completion_tokens: number
          /**
           * USD
           */
          cost_upstream_usd: number
          /**
           * BRL
           */
          cost_billed_brl: number
        }[]
        /**
         * Os mais novos primeiro.
         */
        ledger_entries: {
          id: string
          kind: 'credit' | 'debit'
          reason: string
          /**
           * BRL
           */
          amount_brl: number
          reference: string
          note: string | null
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        teams_owned: {
          id: string
          name: string
          limit_brl: number | null
          created_at: string
          deleted_at: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        team_memberships: {
          team_id: string
          team_name: string
          role: 'admin' | 'member'
          joined_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        invitations_sent: {
          id: string
          team_id: string
          email: string
          role: 'admin' | 'member'
          created_at: string
          expires_at: string
          accepted_at: string | null
          revoked_at: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        invitations_received: {
          id: string
          team_id: string
          team_name: string
          role: 'admin' | 'member'
          created_at: string
          expires_at: string
          accepted_at: string | null
          revoked_at: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        referrals: {
          part: 'referrer' | 'referred'
          registered_at: string
          rewarded_at: string | null
          reward_brl: number | null
          /**
           * BRL
           */
          taken_back_brl: number
        }[]
        /**
         * Os mais novos primeiro.
         */
        activities: {
          id: string
          created_at: string
          action: string
          actor_kind: 'customer' | 'operator' | 'system'
          api_key_id: string | null
          session_id: string | null
          ip: string | null
          subject_id: string | null
          details: {
            [k: string]: unknown
          } | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        operator_notes: {
          id: string
          note: string
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        sign_in_users: {
          id: string
          email: string
          is_verified: boolean
          name: string
          has_password: boolean
          second_factor_enabled_at: string | null
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        sign_in_sessions: {
          id: string
          ip: string | null
          user_agent: string | null
          created_at: string
          expires_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        sign_in_passkeys: {
          id: string
          name: string
          device_type: string
          is_backed_up: boolean
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        sign_in_providers: {
          provider: 'google' | 'github' | 'microsoft'
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        alerts: {
          id: string
          name: string
          kind: string
          threshold: number
          api_key_id: string | null
          team_id: string | null
          channels: string[]
          is_enabled: boolean
          state: string
          last_fired_at: string | null
          last_value: number | null
          created_at: string
          updated_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        public_bills: {
          id: string
          token: string
          usage_event_id: string | null
          session_id: string | null
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        webhooks: {
          id: string
          url: string
          description: string | null
          event_types: string[] | null
          created_at: string
          disabled_at: string | null
          disabled_reason: string | null
          failing_since: string | null
          deleted_at: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        webhook_attempts: {
          delivery_id: string
          webhook_id: string
          message_id: string
          event_type: string
          try_number: number
          is_replay: boolean
          status: string
          http_status: number | null
          latency_ms: number | null
          response_head: string | null
          error: string | null
          created_at: string
          finished_at: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        usage_destinations: {
          id: string
          kind: string
          url: string
          public_key: string | null
          header_names: string[]
          includes_content: boolean
          created_at: string
          disabled_at: string | null
          disabled_reason: string | null
          last_success_at: string | null
          last_failed_at: string | null
          last_error: string | null
          last_answer: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        stored_responses: {
          id: string
          api_key_id: string
          previous_response_id: string | null
          byte_count: number
          created_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        files: {
          id: string
          api_key_id: string
          name: string
          byte_count: number
          created_at: string
          expires_at: string
        }[]
        /**
         * Os mais novos primeiro.
         */
        batches: {
          id: string
          api_key_id: string
          endpoint: string
          metadata: {
            [k: string]: string
          } | null
          lines: number
          succeeded: number
          errored: number
          canceled: number
          expired: number
          created_at: string
          canceled_at: string | null
          ended_at: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        videos: {
          id: string
          api_key_id: string
          model_id: string
          seconds: number
          size: string | null
          status: string
          error_code: string | null
          created_at: string
          completed_at: string | null
        }[]
        /**
         * Os mais novos primeiro.
         */
        images_waiting: {
          media_type: string
          byte_count: number
          created_at: string
          expires_at: string
        }[]
        /**
         * Quantos há de cada lista, que pode ter só os mais novos.
         */
        totals: {
          notifications: number
          mails_waiting: number
          topups: number
          payment_methods: number
          automatic_topups: number
          refunds: number
          events: number
          api_keys: number
          shield_counts: number
          usage_refusals: number
          prompts: number
          prompt_versions: number
          sessions: number
          usage_by_month: number
          ledger_entries: number
          teams_owned: number
          team_memberships: number
          invitations_sent: number
          invitations_received: number
          referrals: number
          activities: number
          operator_notes: number
          sign_in_users: number
          sign_in_sessions: number
          sign_in_passkeys: number
          sign_in_providers: number
          alerts: number
          public_bills: number
          webhooks: number
          webhook_attempts: number
          usage_destinations: number
          stored_responses: number
          files: number
          batches: number
          videos: number
          images_waiting: number
        }
        note: string
      }
    }
    /**
     * As equipes próprias e aquelas de que se é membro, a mais nova primeiro
     */
    '/me/teams': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        teams: {
          id: string
          name: string
          role: 'owner' | 'admin' | 'member'
          /**
           * O nome de quem é dono; só a inicial para os outros.
           */
          owner: string
          monthly_cap_brl: number | null
          /**
           * BRL
           */
          spent_this_month_brl: number
          /**
           * BRL, reservados por requisições em andamento.
           */
          held_brl: number
          remaining_brl: number | null
          requests_this_month: number
          tokens_this_month: number
          /**
           * Sem contar quem é dono.
           */
          member_count: number
          /**
           * As chaves que não foram revogadas.
           */
          key_count: number
          created_at: string
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Uma equipe, com o que gastou neste mês
     */
    '/me/teams/{id}': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        role: 'owner' | 'admin' | 'member'
        /**
         * O nome de quem é dono; só a inicial para os outros.
         */
        owner: string
        monthly_cap_brl: number | null
        /**
         * BRL
         */
        spent_this_month_brl: number
        /**
         * BRL, reservados por requisições em andamento.
         */
        held_brl: number
        remaining_brl: number | null
        requests_this_month: number
        tokens_this_month: number
        /**
         * Sem contar quem é dono.
         */
        member_count: number
        /**
         * As chaves que não foram revogadas.
         */
        key_count: number
        created_at: string
      }
    }
    /**
     * Quem está na equipe e o que gastou por ela neste mês; membros veem dos outros só a inicial
     */
    '/me/teams/{id}/members': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        owner: {
          customer_id: string
          name: string
          email: string | null
          role: 'owner' | 'admin' | 'member'
          key_count: number | null
          requests_this_month: number | null
          tokens_this_month: number | null
          cost_billed_this_month_brl: number | null
          joined_at: string
        }
        members: {
          customer_id: string
          name: string
          email: string | null
          role: 'owner' | 'admin' | 'member'
          key_count: number | null
          requests_this_month: number | null
          tokens_this_month: number | null
          cost_billed_this_month_brl: number | null
          joined_at: string
        }[]
      }
    }
    /**
     * Os convites em aberto de uma equipe
     */
    '/me/teams/{id}/invitations': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        invitations: {
          id: string
          email: string
          role: 'admin' | 'member'
          invited_by: string
          created_at: string
          expires_at: string
        }[]
      }
    }
    /**
     * Os convites em aberto para o próprio e-mail
     */
    '/me/invitations': {
      /**
       * Tudo certo.
       */
      answer: {
        invitations: {
          id: string
          team_name: string
          /**
           * A inicial de quem é dono da equipe.
           */
          owner: string
          role: 'admin' | 'member'
          created_at: string
          expires_at: string
        }[]
      }
    }
    /**
     * As chaves de uma equipe; membros veem só as que criaram
     */
    '/me/teams/{id}/keys': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
      }
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        api_keys: {
          id: string
          name: string
          last_four: string
          status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
          scope: 'calls' | 'account' | 'manage' | 'operator'
          model_ids: string[] | null
          ip_allowlist: string[] | null
          requests_per_minute: number
          tokens_per_minute: number | null
          /**
           * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
           */
          shield: {
            /**
             * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
             */
            action: 'off' | 'mask' | 'block'
            /**
             * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
             */
            uuids: 'near_pix' | 'always'
          } | null
          budget: {
            /**
             * USD
             */
            limit_usd: number
            period: 'day' | 'month' | 'lifetime'
            /**
             * USD
             */
            spent_usd: number
          } | null
          minute_cap_brl: number | null
          minute_cap_used_brl: number | null
          day_cap_brl: number | null
          day_cap_used_brl: number | null
          task_cap_brl: number | null
          calls_at_once: number | null
          cache_seconds: number | null
          auto_cache: boolean
          team_id: string | null
          last_used_at: string | null
          created_at: string
          expires_at: string | null
          paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
          revoked_at: string | null
          created_by: string | null
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Os alertas, na ordem em que foram criados
     */
    '/me/alerts': {
      /**
       * Tudo certo.
       */
      answer: {
        alerts: {
          id: string
          name: string
          kind: 'balance_below' | 'daily_spend' | 'monthly_spend' | 'runway_days' | 'error_rate'
          threshold: number
          api_key_id: string | null
          team_id: string | null
          /**
           * @minItems 1
           * @maxItems 2
           */
          channels: ('email' | 'webhook')[]
          is_enabled: boolean
          /**
           * triggered: disparou, e só dispara de novo depois de voltar 10% além do limite; gastos, no próximo dia ou mês.
           */
          state: 'ok' | 'triggered'
          last_fired_at: string | null
          last_value: number | null
          created_at: string
          updated_at: string
        }[]
      }
    }
    /**
     * Um alerta
     */
    '/me/alerts/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        kind: 'balance_below' | 'daily_spend' | 'monthly_spend' | 'runway_days' | 'error_rate'
        threshold: number
        api_key_id: string | null
        team_id: string | null
        /**
         * @minItems 1
         * @maxItems 2
         */
        channels: ('email' | 'webhook')[]
        is_enabled: boolean
        /**
         * triggered: disparou, e só dispara de novo depois de voltar 10% além do limite; gastos, no próximo dia ou mês.
         */
        state: 'ok' | 'triggered'
        last_fired_at: string | null
        last_value: number | null
        created_at: string
        updated_at: string
      }
    }
    /**
     * Os webhooks, na ordem em que foram criados
     */
    '/webhooks': {
      /**
       * Tudo certo.
       */
      answer: {
        webhooks: {
          id: string
          url: string
          description: string | null
          event_types:
            | (
                | 'topup.created'
                | 'topup.paid'
                | 'topup.expired'
                | 'topup.failed'
                | 'topup.refunded'
                | 'topup.chargeback'
                | 'topup.automatic_disabled'
                | 'balance.low'
                | 'balance.depleted'
                | 'balance.restored'
                | 'key.created'
                | 'key.revoked'
                | 'key.paused'
                | 'key.resumed'
                | 'refund.requested'
                | 'refund.completed'
                | 'refund.rejected'
                | 'refund.failed'
                | 'alert.triggered'
                | 'referral.rewarded'
                | 'price.changed'
                | 'model.ending'
                | 'account.suspended'
                | 'account.reinstated'
                | 'webhook.test'
              )[]
            | null
          is_enabled: boolean
          disabled_at: string | null
          /**
           * customer: por você; gone: o destino respondeu 410; failing: falhou da primeira à última tentativa.
           */
          disabled_reason: ('customer' | 'gone' | 'failing') | null
          /**
           * Quando falhou a primeira tentativa depois do último sucesso.
           */
          failing_since: string | null
          created_at: string
        }[]
      }
    }
    /**
     * Os tipos de evento que um webhook pode receber
     */
    '/webhooks/event-types': {
      /**
       * Tudo certo.
       */
      answer: {
        event_types: string[]
      }
    }
    /**
     * Um webhook
     */
    '/webhooks/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        url: string
        description: string | null
        event_types:
          | (
              | 'topup.created'
              | 'topup.paid'
              | 'topup.expired'
              | 'topup.failed'
              | 'topup.refunded'
              | 'topup.chargeback'
              | 'topup.automatic_disabled'
              | 'balance.low'
              | 'balance.depleted'
              | 'balance.restored'
              | 'key.created'
              | 'key.revoked'
              | 'key.paused'
              | 'key.resumed'
              | 'refund.requested'
              | 'refund.completed'
              | 'refund.rejected'
              | 'refund.failed'
              | 'alert.triggered'
              | 'referral.rewarded'
              | 'price.changed'
              | 'model.ending'
              | 'account.suspended'
              | 'account.reinstated'
              | 'webhook.test'
            )[]
          | null
        is_enabled: boolean
        disabled_at: string | null
        /**
         * customer: por você; gone: o destino respondeu 410; failing: falhou da primeira à última tentativa.
         */
        disabled_reason: ('customer' | 'gone' | 'failing') | null
        /**
         * Quando falhou a primeira tentativa depois do último sucesso.
         */
        failing_since: string | null
        created_at: string
      }
    }
    /**
     * As tentativas de entrega dos últimos 30 dias, as mais novas primeiro
     */
    '/webhooks/{id}/attempts': {
      path: {
        id: string
      }
      query: {
        status?: 'queued' | 'running' | 'delivered' | 'failed'
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        attempts: {
          /**
           * Desta tentativa; vai no cabeçalho x-svc-delivery-id.
           */
          delivery_id: string
          webhook_id: string
          /**
           * O mesmo em todas as tentativas e reenvios; vai no cabeçalho webhook-id.
           */
          message_id: string
          event_type: string
          try_number: number
          is_replay: boolean
          status: 'queued' | 'running' | 'delivered' | 'failed'
          due_at: string
          http_status: number | null
          latency_ms: number | null
          error: string | null
          created_at: string
          finished_at: string | null
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Uma tentativa, com o que foi enviado e o começo da resposta
     */
    '/webhooks/attempts/{attemptId}': {
      path: {
        attemptId: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * Desta tentativa; vai no cabeçalho x-svc-delivery-id.
         */
        delivery_id: string
        webhook_id: string
        /**
         * O mesmo em todas as tentativas e reenvios; vai no cabeçalho webhook-id.
         */
        message_id: string
        event_type: string
        try_number: number
        is_replay: boolean
        status: 'queued' | 'running' | 'delivered' | 'failed'
        due_at: string
        http_status: number | null
        latency_ms: number | null
        error: string | null
        created_at: string
        finished_at: string | null
        /**
         * Os bytes enviados e assinados.
         */
        body: string
        response_head: string | null
      }
    }
    /**
     * Os cartões, o mais antigo primeiro; no máximo 10
     */
    '/payment-methods': {
      /**
       * Tudo certo.
       */
      answer: {
        payment_methods: {
          id: string
          brand: string | null
          last_four: string
          holder_name: string
          expiry_month: number
          expiry_year: number
          created_at: string
        }[]
        /**
         * Há uma recarga automática, ligada ou não.
         */
        has_automatic_topup: boolean
      }
    }
    /**
     * As recargas, as mais novas primeiro
     */
    '/topups': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        topups: {
          id: string
          /**
           * BRL
           */
          amount_brl: number
          method: 'pix' | 'boleto' | 'card'
          status:
            | 'pending'
            | 'paid'
            | 'expired'
            | 'canceled'
            | 'failed'
            | 'refund_pending'
            | 'partially_refunded'
            | 'refunded'
            | 'chargeback'
          pix: {
            /**
             * Copia e cola.
             */
            payload: string
            /**
             * A imagem do QR Code, um PNG.
             */
            qr_code_base64: string
            expires_at: string | null
          } | null
          boleto: {
            url: string
            line: string
          } | null
          card: {
            brand: string | null
            last_four: string
          } | null
          payment_method_id: string | null
          /**
           * Feita pela recarga automática.
           */
          is_automatic: boolean
          page_url: string | null
          /**
           * BRL que voltaram a quem pagou.
           */
          returned_brl: number
          created_at: string
          paid_at: string | null
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Uma recarga, e se ela já foi paga
     */
    '/topups/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * BRL
         */
        amount_brl: number
        method: 'pix' | 'boleto' | 'card'
        status:
          | 'pending'
          | 'paid'
          | 'expired'
          | 'canceled'
          | 'failed'
          | 'refund_pending'
          | 'partially_refunded'
          | 'refunded'
          | 'chargeback'
        pix: {
          /**
           * Copia e cola.
           */
          payload: string
          /**
           * A imagem do QR Code, um PNG.
           */
          qr_code_base64: string
          expires_at: string | null
        } | null
        boleto: {
          url: string
          line: string
        } | null
        card: {
          brand: string | null
          last_four: string
        } | null
        payment_method_id: string | null
        /**
         * Feita pela recarga automática.
         */
        is_automatic: boolean
        page_url: string | null
        /**
         * BRL que voltaram a quem pagou.
         */
        returned_brl: number
        created_at: string
        paid_at: string | null
      }
    }
    /**
     * A recarga automática
     */
    '/topups/automatic': {
      /**
       * Tudo certo.
       */
      answer: {
        is_enabled: boolean
        /**
         * BRL
         */
        threshold_brl: number
        /**
         * BRL
         */
        amount_brl: number
        payment_method_id: string | null
        monthly_limit_brl: number | null
        failures_in_row: number
        disabled_reason: ('card_rejected' | 'payment_method_deleted') | null
        updated_at: string
      }
    }
    /**
     * O recibo de uma recarga paga, uma página para imprimir
     */
    '/topups/{id}/receipt': {
      path: {
        id: string
      }
      answer: string
    }
    /**
     * O recibo de uma recarga paga, em PDF
     */
    '/topups/{id}/receipt.pdf': {
      path: {
        id: string
      }
      answer: string
    }
    /**
     * Os reembolsos, os mais novos primeiro, e o que ainda pode ser reembolsado
     */
    '/me/refunds': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * BRL pagos, não gastos e não reservados.
         */
        refundable_brl: number
        /**
         * Destes, os de recargas dos últimos 7 dias: sem valor mínimo e sem análise.
         */
        withdrawable_brl: number
        /**
         * BRL
         */
        minimum_brl: number
        refunds: {
          id: string
          /**
           * BRL
           */
          amount_brl: number
          /**
           * BRL que já voltaram a quem pagou.
           */
          returned_brl: number
          /**
           * `withdrawal`: desistência, dentro dos 7 dias do CDC (art. 49), sem valor mínimo.
           */
          kind: 'withdrawal' | 'request'
          status: 'requested' | 'approved' | 'processing' | 'done' | 'rejected' | 'failed'
          reason: string | null
          decision_note: string | null
          parts: {
            topup_id: string
            /**
             * BRL
             */
            amount_brl: number
            /**
             * `taken`: voltou por outro caminho, como uma contestação.
             */
            status: 'waiting' | 'sent' | 'done' | 'failed' | 'taken'
          }[]
          created_at: string
          ended_at: string | null
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Um reembolso, e se ele já foi feito
     */
    '/me/refunds/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * BRL
         */
        amount_brl: number
        /**
         * BRL que já voltaram a quem pagou.
         */
        returned_brl: number
        /**
         * `withdrawal`: desistência, dentro dos 7 dias do CDC (art. 49), sem valor mínimo.
         */
        kind: 'withdrawal' | 'request'
        status: 'requested' | 'approved' | 'processing' | 'done' | 'rejected' | 'failed'
        reason: string | null
        decision_note: string | null
        parts: {
          topup_id: string
          /**
           * BRL
           */
          amount_brl: number
          /**
           * `taken`: voltou por outro caminho, como uma contestação.
           */
          status: 'waiting' | 'sent' | 'done' | 'failed' | 'taken'
        }[]
        created_at: string
        ended_at: string | null
      }
    }
    /**
     * Os modelos, com rotas, preços, o multiplicador em vigor e os que virão
     */
    '/admin/models': {
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * De aviso antes de um aumento.
         */
        markup_notice_days: number
        models: {
          id: string
          display_name: string
          category: 'llm' | 'image' | 'video' | 'embedding' | 'audio'
          vendor: string
          /**
           * De onde vem: listed, da lista do provedor, com o preço dos dados publicados.
           */
          source: 'built_in' | 'file' | 'listed' | 'browser'
          /**
           * Como foi escrito no navegador.
           */
          entry: {
            display_name?: string
            category?: 'llm' | 'image' | 'video' | 'embedding' | 'audio'
            description?: string | null
            vendor?: string
            /**
             * @minItems 1
             * @maxItems 20
             */
            routes: {
              upstream: string
              /**
               * The model's name at the upstream.
               */
              model: string
              /**
               * Smaller numbers are tried first. Default: the position in the list.
               */
              priority?: number
              /**
               * The share of calls among routes of the same priority.
               */
              weight?: number
              /**
               * Concurrent calls per node.
               */
              concurrency_max?: number
              prices?: {
                /**
                 * USD per million tokens.
                 */
                input?: string | number
                /**
                 * USD per million tokens.
                 */
                cached_input?: string | number
                /**
                 * USD per million tokens.
                 */
                cache_write?: string | number
                /**
                 * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
                 */
                cache_write_1h?: string | number
                /**
                 * USD per million tokens.
                 */
                output?: string | number
                /**
                 * USD per million tokens.
                 */
                reasoning?: string | number
                /**
                 * USD per hour of audio, billed by the second.
                 */
                audio_hour?: string | number
                /**
                 * USD per million characters of a text that is spoken.
                 */
                characters?: string | number
                /**
                 * USD per million tokens.
                 */
                input_audio?: string | number
                /**
                 * USD per million tokens.
                 */
                output_audio?: string | number
                /**
                 * USD per million tokens.
                 */
                input_image?: string | number
                /**
                 * USD per million tokens.
                 */
                output_image?: string | number
                /**
                 * USD per search of a reranker: a query with up to 100 documents of up to 500 tokens. In place of tokens.
                 */
                search_unit?: string | number
                /**
                 * USD per search of the web that the provider runs. If absent, web search is not offered. Needs prices without tiers.
                 */
                web_search?: string | number
                /**
                 * Keys: "<quality>:<width>x<height>", "<width>x<height>", "<quality>" or "default". The most specific key applies.
                 */
                images?: {
                  /**
                   * USD per image.
                   */
                  [k: string]: string | number
                }
                /**
                 * Keys: "<width>x<height>", or "default" for every other size.
                 */
                video_seconds?: {
                  /**
                   * USD per second of video.
                   */
                  [k: string]: string | number
                }
                tiers?: {
                  above_prompt_tokens: number
                  /**
                   * USD per million tokens.
                   */
                  input?: string | number
                  /**
                   * USD per million tokens.
                   */
                  cached_input?: string | number
                  /**
                   * USD per million tokens.
                   */
                  cache_write?: string | number
                  /**
                   * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
                   */
                  cache_write_1h?: string | number
                  /**
                   * USD per million tokens.
                   */
                  output?: string | number
                  /**
                   * USD per million tokens.
                   */
                  reasoning?: string | number
                }[]
              }
              /**
               * Prices that apply from a date on, or at times of day. Of those that apply, the last one is charged, by the end of the answer; a call is held for at the highest.
               */
              price_schedule?: {
                /**
                 * The prices apply from then on, such as 2027-01-01T00:00Z.
                 */
                starts_at?: string
                /**
                 * UTC, HH:MM.
                 */
                from?: string
                /**
                 * UTC, HH:MM.
                 */
                until?: string
                /**
                 * The days of "from" and "until"; 1 is Monday.
                 *
                 * @minItems 1
                 */
                weekdays?: number[]
                /**
                 * Hours from UTC to the calendar of "weekdays", such as 8 for Beijing.
                 */
                weekdays_utc_offset?: number
                prices: {
                  /**
                   * USD per million tokens.
                   */
                  input?: string | number
                  /**
                   * USD per million tokens.
                   */
                  cached_input?: string | number
                  /**
                   * USD per million tokens.
                   */
                  cache_write?: string | number
                  /**
                   * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
                   */
                  cache_write_1h?: string | number
                  /**
                   * USD per million tokens.
                   */
                  output?: string | number
                  /**
                   * USD per million tokens.
                   */
                  reasoning?: string | number
                  /**
                   * USD per hour of audio, billed by the second.
                   */
                  audio_hour?: string | number
                  /**
                   * USD per million characters of a text that is spoken.
                   */
                  characters?: string | number
                  /**
                   * USD per million tokens.
                   */
                  input_audio?: string | number
                  /**
                   * USD per million tokens.
                   */
                  output_audio?: string | number
                  /**
                   * USD per million tokens.
                   */
                  input_image?: string | number
                  /**
                   * USD per million tokens.
                   */
                  output_image?: string | number
                  /**
                   * USD per search of a reranker: a query with up to 100 documents of up to 500 tokens. In place of tokens.
                   */
                  search_unit?: string | number
                  /**
                   * USD per search of the web that the provider runs. If absent, web search is not offered. Needs prices without tiers.
                   */
                  web_search?: string | number
                  /**
                   * Keys: "<quality>:<width>x<height>", "<width>x<height>", "<quality>" or "default". The most specific key applies.
                   */
                  images?: {
                    /**
                     * USD per image.
                     */
                    [k: string]: string | number
                  }
                  /**
                   * Keys: "<width>x<height>", or "default" for every other size.
                   */
                  video_seconds?: {
                    /**
                     * USD per second of video.
                     */
                    [k: string]: string | number
                  }
                  tiers?: {
                    above_prompt_tokens: number
                    /**
                     * USD per million tokens.
                     */
                    input?: string | number
                    /**
                     * USD per million tokens.
                     */
                    cached_input?: string | number
                    /**
                     * USD per million tokens.
                     */
                    cache_write?: string | number
                    /**
                     * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
                     */
                    cache_write_1h?: string | number
                    /**
                     * USD per million tokens.
                     */
                    output?: string | number
                    /**
                     * USD per million tokens.
                     */
                    reasoning?: string | number
                  }[]
                }
              }[]
            }[]
            routing?: 'priority' | 'latency' | 'price'
            prices?: {
              /**
               * USD per million tokens.
               */
              input?: string | number
              /**
               * USD per million tokens.
               */
              cached_input?: string | number
              /**
               * USD per million tokens.
               */
              cache_write?: string | number
              /**
               * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
               */
              cache_write_1h?: string | number
              /**
               * USD per million tokens.
               */
              output?: string | number
              /**
               * USD per million tokens.
               */
              reasoning?: string | number
              /**
               * USD per hour of audio, billed by the second.
               */
              audio_hour?: string | number
              /**
               * USD per million characters of a text that is spoken.
               */
              characters?: string | number
              /**
               * USD per million tokens.
               */
              input_audio?: string | number
              /**
               * USD per million tokens.
               */
              output_audio?: string | number
              /**
               * USD per million tokens.
               */
              input_image?: string | number
              /**
               * USD per million tokens.
               */
              output_image?: string | number
              /**
               * USD per search of a reranker: a query with up to 100 documents of up to 500 tokens. In place of tokens.
               */
              search_unit?: string | number
              /**
               * USD per search of the web that the provider runs. If absent, web search is not offered. Needs prices without tiers.
               */
              web_search?: string | number
              /**
               * Keys: "<quality>:<width>x<height>", "<width>x<height>", "<quality>" or "default". The most specific key applies.
               */
              images?: {
                /**
                 * USD per image.
                 */
                [k: string]: string | number
              }
              /**
               * Keys: "<width>x<height>", or "default" for every other size.
               */
              video_seconds?: {
                /**
                 * USD per second of video.
                 */
                [k: string]: string | number
              }
              tiers?: {
                above_prompt_tokens: number
                /**
                 * USD per million tokens.
                 */
                input?: string | number
                /**
                 * USD per million tokens.
                 */
                cached_input?: string | number
                /**
                 * USD per million tokens.
                 */
                cache_write?: string | number
                /**
                 * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
                 */
                cache_write_1h?: string | number
                /**
                 * USD per million tokens.
                 */
                output?: string | number
                /**
                 * USD per million tokens.
                 */
                reasoning?: string | number
              }[]
            }
            /**
             * Prices that apply from a date on, or at times of day. Of those that apply, the last one is charged, by the end of the answer; a call is held for at the highest.
             */
            price_schedule?: {
              /**
               * The prices apply from then on, such as 2027-01-01T00:00Z.
               */
              starts_at?: string
              /**
               * UTC, HH:MM.
               */
              from?: string
              /**
               * UTC, HH:MM.
               */
              until?: string
              /**
               * The days of "from" and "until"; 1 is Monday.
               *
               * @minItems 1
               */
              weekdays?: number[]
              /**
               * Hours from UTC to the calendar of "weekdays", such as 8 for Beijing.
               */
              weekdays_utc_offset?: number
              prices: {
                /**
                 * USD per million tokens.
                 */
                input?: string | number
                /**
                 * USD per million tokens.
                 */
                cached_input?: string | number
                /**
                 * USD per million tokens.
                 */
                cache_write?: string | number
                /**
                 * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
                 */
                cache_write_1h?: string | number
                /**
                 * USD per million tokens.
                 */
                output?: string | number
                /**
                 * USD per million tokens.
                 */
                reasoning?: string | number
                /**
                 * USD per hour of audio, billed by the second.
                 */
                audio_hour?: string | number
                /**
                 * USD per million characters of a text that is spoken.
                 */
                characters?: string | number
                /**
                 * USD per million tokens.
                 */
                input_audio?: string | number
                /**
                 * USD per million tokens.
                 */
                output_audio?: string | number
                /**
                 * USD per million tokens.
                 */
                input_image?: string | number
                /**
                 * USD per million tokens.
                 */
                output_image?: string | number
                /**
                 * USD per search of a reranker: a query with up to 100 documents of up to 500 tokens. In place of tokens.
                 */
                search_unit?: string | number
                /**
                 * USD per search of the web that the provider runs. If absent, web search is not offered. Needs prices without tiers.
                 */
                web_search?: string | number
                /**
                 * Keys: "<quality>:<width>x<height>", "<width>x<height>", "<quality>" or "default". The most specific key applies.
                 */
                images?: {
                  /**
                   * USD per image.
                   */
                  [k: string]: string | number
                }
                /**
                 * Keys: "<width>x<height>", or "default" for every other size.
                 */
                video_seconds?: {
                  /**
                   * USD per second of video.
                   */
                  [k: string]: string | number
                }
                tiers?: {
                  above_prompt_tokens: number
                  /**
                   * USD per million tokens.
                   */
                  input?: string | number
                  /**
                   * USD per million tokens.
                   */
                  cached_input?: string | number
                  /**
                   * USD per million tokens.
                   */
                  cache_write?: string | number
                  /**
                   * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
                   */
                  cache_write_1h?: string | number
                  /**
                   * USD per million tokens.
                   */
                  output?: string | number
                  /**
                   * USD per million tokens.
                   */
                  reasoning?: string | number
                }[]
              }
            }[]
            context_tokens?: number
            max_output_tokens?: number
            image_tokens_max?: number
            /**
             * The most tokens that the upstream adds to every prompt and bills. The hold covers them.
             */
            hidden_prompt_tokens_max?: number
            supports_tools?: boolean
            can_reason?: boolean
            /**
             * The day (UTC, YYYY-MM-DD) on which the maker ends the model. Customers are notified; calls go on while an upstream answers. Null: it does not end, whatever the maker or a list says.
             */
            ends_on?: string | null
            embedding?: {
              dimensions: number
              can_shorten?: boolean
            }
            /**
             * A model of the category audio that speaks (/v1/audio/speech).
             */
            speech?: boolean
            /**
             * A model of the category embedding that ranks documents (/v1/rerank).
             */
            rerank?: boolean
            /**
             * A model of the category embedding that judges content (/v1/moderations). Its "input" may be 0.
             */
            moderation?: boolean
            image?: {
              sizes?: string[]
              /**
               * The most output tokens of one image, by quality.
               */
              tokens_max?: {
                [k: string]: number
              }
            }
            audio?: {
              seconds_min?: number
              seconds_max?: number
              tokens_per_second_max?: number
              has_timestamps?: boolean
            }
            video?: {
              /**
               * The lengths that may be asked for; the first is the default.
               *
               * @minItems 1
               */
              seconds?: number[]
              /**
               * The sizes that may be asked for; the first is the default.
               *
               * @minItems 1
               */
              sizes?: string[]
            }
          } | null
          /**
           * Em vigor.
           */
          markup_multiplier: number
          /**
           * Da configuração.
           */
          configured_markup_multiplier: number
          is_disabled: boolean
          disabled_reason: string | null
          disabled_at: string | null
          price: {
            /**
             * Items: USD por milhão de tokens.
             */
            tiers: {
              above_prompt_tokens: number
              /**
               * USD
               */
              input: number
              /**
               * USD
               */
              cached_input: number
              /**
               * USD
               */
              cache_write: number
              /**
               * USD
               */
              output: number
              /**
               * USD
               */
              reasoning: number
            }[]
            /**
             * USD por unidade.
             */
            units: {
              /**
               * USD
               */
              [k: string]: number
            }
          }
          routes: {
            upstream: string
            upstream_model: string
            priority: number
            weight: number
            price: {
              /**
               * Items: USD por milhão de tokens.
               */
              tiers: {
                above_prompt_tokens: number
                /**
                 * USD
                 */
                input: number
                /**
                 * USD
                 */
                cached_input: number
                /**
                 * USD
                 */
                cache_write: number
                /**
                 * USD
                 */
                output: number
                /**
                 * USD
                 */
                reasoning: number
              }[]
              /**
               * USD por unidade.
               */
              units: {
                /**
                 * USD
                 */
                [k: string]: number
              }
            }
          }[]
          scheduled: {
            id: string
            model_id: string
            markup_multiplier: number
            markup_multiplier_before: number
            starts_at: string
            reason: string
            created_at: string
            is_rise: boolean
            /**
             * De um aumento: quando o último cliente foi avisado.
             */
            told_at: string | null
          }[]
        }[]
      }
    }
    /**
     * Preços e modelos novos, dos preços publicados, que esperam uma resposta
     */
    '/admin/price-updates': {
      /**
       * Tudo certo.
       */
      answer: {
        price_updates: {
          model_id: string
          kind: 'new' | 'cheaper' | 'dearer' | 'unreadable' | 'disputed'
          /**
           * Do preço em vigor ao publicado, em USD, e o que a segunda lista diz (`second list agrees`, `second list says …`).
           */
          difference: string
          found_at: string
        }[]
      }
    }
    /**
     * Os provedores, de onde vêm e em que estado estão
     */
    '/admin/upstreams': {
      /**
       * Tudo certo.
       */
      answer: {
        kinds: {
          kind:
            | 'openai'
            | 'azure-openai'
            | 'anthropic'
            | 'google'
            | 'cohere'
            | 'deepseek'
            | 'mistral'
            | 'xai'
            | 'groq'
            | 'together'
            | 'fireworks'
            | 'openrouter'
            | 'maritaca'
            | 'vllm'
            | 'ollama'
            | 'lm-studio'
            | 'openai-compatible'
          needs_address: boolean
          needs_key: boolean
        }[]
        upstreams: {
          id: string
          kind: string
          /**
           * De onde vem: só os do navegador mudam aqui.
           */
          source: 'file' | 'environment' | 'browser' | 'built_in'
          host: string | null
          key_end: string | null
          state: 'active' | 'draining' | 'paused'
          problem: ('replaced' | 'not_open') | null
          /**
           * Do catálogo, com uma rota por ele.
           */
          models: number
          created_at: string | null
        }[]
      }
    }
    /**
     * O que espera por um operador, o que falha e como respondem os provedores
     */
    '/admin/overview': {
      /**
       * Tudo certo.
       */
      answer: {
        at: string
        /**
         * Todas as chamadas de modelos.
         */
        is_paused: boolean
        /**
         * 100: ou mais.
         */
        open_incidents: number
        waiting: {
          /**
           * 100: ou mais.
           */
          adjustments: number
          /**
           * 100: ou mais.
           */
          refunds: number
          prices: number
          /**
           * Pedidos de desligar a verificação em duas etapas de um cliente.
           */
          second_factors: {
            customer_id: string
            requested_by: string
            requested_at: string
          }[]
        }
        failing: {
          /**
           * 100: ou mais.
           */
          webhooks: number
          /**
           * 100: ou mais.
           */
          mails: number
        }
        open_differences: number
        /**
         * As tentativas das últimas 24 horas, as que mais falharam primeiro.
         */
        upstreams: {
          upstream: string
          calls: number
          failed: number
        }[]
      }
    }
    /**
     * Os nós, as filas, os trabalhos, o banco de dados, o câmbio e a conciliação
     */
    '/admin/health': {
      /**
       * Tudo certo.
       */
      answer: {
        at: string
        /**
         * Os vivos, os vistos no último dia e os que deixaram reservas abertas.
         */
        nodes: {
          id: string
          /**
           * O nó que responde.
           */
          is_this: boolean
          is_alive: boolean
          started_at: string
          last_heartbeat_at: string
          stopped_at: string | null
          open_holds: number
          server_id: string | null
          worker: number | null
          version: string | null
          build: string | null
        }[]
        pause: {
          reason: string
          since: string
        } | null
        holds: {
          open: number
          oldest_at: string | null
        }
        queues: {
          name: 'events' | 'webhook_attempts' | 'mails' | 'processor_events' | 'usage_destinations'
          /**
           * O que não está feito, também o que tem hora marcada.
           */
          waiting: number
          /**
           * O que já devia ser feito.
           */
          due: number
          oldest_due_at: string | null
        }[]
        jobs: {
          name: string
          /**
           * Em UTC.
           */
          cron: string
          waiting: number
          active: number
          /**
           * Os que se deram por perdidos e ainda estão guardados.
           */
          failed: number
          last_completed_at: string | null
          last_failed_at: string | null
        }[]
        database: {
          size_bytes: number
          connections: number
          connections_max: number
          /**
           * As réplicas de leitura, como as vê o nó que responde.
           */
          read_replicas: {
            /**
             * host:porta
             */
            name: string
            is_read: boolean
            /**
             * Por que não é lida: starting, ainda não alcançou o início do nó; unreachable, não responde; behind, atrasada demais; takes_writes, não é réplica; other_system, é de outro banco.
             */
            trouble:
              ('starting' | 'unreachable' | 'behind' | 'takes_writes' | 'other_system') | null
            /**
             * A idade dos dados; null enquanto não se sabe.
             */
            lag_seconds: number | null
          }[]
        }
        fx_rate: {
          /**
           * BRL por USD.
           */
          rate: number
          rate_date: string
          source: string
          applied_from: string | null
          /**
           * Dias desde a data da taxa.
           */
          age_days: number
        } | null
        reconciliation: {
          last_started_at: string | null
          last_finished_at: string | null
          last_failure: string | null
          open_differences: number
        }
        /**
         * O que só o nó que responde sabe, e de si mesmo.
         */
        this_node: {
          id: string
          started_at: string
          running_calls: number
          /**
           * Cobranças no disco, à espera do banco de dados.
           */
          spool_length: number
          ledger_waiting: number
          routes: {
            model_id: string
            upstream: string
            upstream_model: string
            breaker: 'closed' | 'half_open' | 'open'
            running: number
          }[]
          timers: {
            name: string
            every_ms: number
            last_done_at: string | null
            last_failed_at: string | null
            failures_in_row: number
          }[]
        }
      }
    }
    /**
     * Os incidentes com a sua história, os mais novos primeiro
     */
    '/admin/incidents': {
      query: {
        status?: 'open' | 'all'
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        incidents: {
          id: string
          status: 'open' | 'resolved'
          source: 'operator' | 'breaker'
          /**
           * O que um disjuntor vigia.
           */
          subject: string | null
          severity: 'minor' | 'major' | 'critical'
          title: string
          message: string
          models: string[]
          providers: string[]
          opened_at: string
          updated_at: string
          resolved_at: string | null
          updates: {
            status: 'opened' | 'updated' | 'resolved'
            severity: 'minor' | 'major' | 'critical'
            message: string | null
            created_at: string
          }[]
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Webhooks que falham, ou que por isso foram desligados
     */
    '/admin/webhooks/in-trouble': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        webhooks: {
          id: string
          customer_id: string
          /**
           * Do endereço, que por inteiro pode conter segredos.
           */
          origin: string
          disabled_at: string | null
          disabled_reason: ('gone' | 'failing') | null
          failing_since: string | null
          last_error: string | null
          last_http_status: number | null
          last_failed_at: string | null
          queued: number
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Os reembolsos de todos, os mais novos primeiro
     */
    '/admin/refunds': {
      query: {
        status?: 'requested' | 'approved' | 'processing' | 'done' | 'rejected' | 'failed'
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        refunds: {
          id: string
          /**
           * BRL
           */
          amount_brl: number
          /**
           * BRL que já voltaram a quem pagou.
           */
          returned_brl: number
          /**
           * `withdrawal`: desistência, dentro dos 7 dias do CDC (art. 49), sem valor mínimo.
           */
          kind: 'withdrawal' | 'request'
          status: 'requested' | 'approved' | 'processing' | 'done' | 'rejected' | 'failed'
          reason: string | null
          decision_note: string | null
          parts: {
            topup_id: string
            /**
             * BRL
             */
            amount_brl: number
            /**
             * `taken`: voltou por outro caminho, como uma contestação.
             */
            status: 'waiting' | 'sent' | 'done' | 'failed' | 'taken'
          }[]
          created_at: string
          ended_at: string | null
          customer_id: string
          customer_name: string | null
          /**
           * O processador não as devolve: transfira, e diga em `/complete`.
           */
          manual_parts: {
            topup_id: string
            /**
             * BRL
             */
            amount_brl: number
          }[]
          errors: string[]
        }[]
        next_cursor: string | null
      }
    }
    /**
     * O registro de auditoria, os atos mais novos primeiro
     */
    '/admin/audit-log': {
      query: {
        customer_id?: string
        /**
         * O começo do nome do ato: `adjustment.` ou `api_key.revoked`.
         */
        action?: string
        /**
         * Primeiro dia, no horário de Brasília.
         */
        from?: string
        /**
         * Último dia, no horário de Brasília.
         */
        to?: string
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        entries: {
          id: string
          created_at: string
          /**
           * Como `api_key.revoked`.
           */
          action: string
          /**
           * `operator`: pela linha de comando do servidor.
           */
          actor_kind: 'customer' | 'operator' | 'system'
          actor_id: string | null
          actor_name: string | null
          api_key_id: string | null
          session_id: string | null
          ip: string | null
          customer_id: string | null
          customer_name: string | null
          subject_id: string | null
          details: {
            [k: string]: unknown
          } | null
        }[]
        next_cursor: string | null
      }
    }
    /**
     * O registro de auditoria em CSV: até 10.000 atos, os mais novos primeiro
     */
    '/admin/audit-log/export.csv': {
      query: {
        /**
         * Primeiro dia, no horário de Brasília.
         */
        from?: string
        /**
         * Último dia, no horário de Brasília.
         */
        to?: string
      }
      answer: string
    }
    /**
     * Diferenças com o processador de pagamentos e com os custos dos provedores
     */
    '/admin/reconciliation': {
      query: {
        days?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        days: number
        payments: {
          /**
           * false: a última comparação noturna falta.
           */
          is_current: boolean
          last_finished_at: string | null
          last_run: {
            processor: string
            from: string
            to: string
            started_at: string
            finished_at: string | null
            failure: string | null
            payments: number
            topups: number
            mended: number
          } | null
        }
        sums: {
          open: {
            count: number
            difference_brl: number
            difference_usd: number
          }
          explained: {
            count: number
            difference_brl: number
            difference_usd: number
          }
          gone: {
            count: number
            difference_brl: number
            difference_usd: number
          }
        }
        differences: {
          id: string
          kind:
            | 'payment_without_top_up'
            | 'paid_there_only'
            | 'paid_here_only'
            | 'amount_differs'
            | 'returned_differs'
            | 'paid_twice'
            | 'upstream_cost'
          status: 'open' | 'explained' | 'gone'
          processor: string | null
          processor_payment_id: string | null
          topup_id: string | null
          upstream: string | null
          day: string | null
          ours_brl: number | null
          theirs_brl: number | null
          difference_brl: number | null
          ours_usd: number | null
          theirs_usd: number | null
          difference_usd: number | null
          difference_percent: number | null
          first_seen_at: string
          last_seen_at: string
          resolved_at: string | null
          explanation: string | null
          explained_by: ('operator' | 'admin') | null
          explained_at: string | null
        }[]
        upstream_days: {
          upstream: string
          day: string
          ours_usd: number
          theirs_usd: number
          difference_usd: number
          difference_percent: number | null
          compared_at: string
        }[]
      }
    }
    /**
     * Os clientes, os mais novos primeiro
     */
    '/admin/customers': {
      query: {
        /**
         * O que se sabe do cliente: partes do nome ou do e-mail, o começo do id, do CPF ou do CNPJ (também mascarado), o fim de uma chave, ou o id inteiro de uma chamada, recarga, pagamento, reembolso ou chave.
         */
        q?: string
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        customers: {
          id: string
          name: string
          email: string | null
          created_at: string
          deleted_at: string | null
          /**
           * BRL
           */
          balance_brl: number
          last_used_at: string | null
          /**
           * Por que apareceu na busca; vazio sem q.
           */
          found_by: ('words' | 'id' | 'tax_id' | 'key' | 'topup' | 'payment' | 'refund' | 'call')[]
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Um cliente; que foi visto fica no registro de auditoria
     */
    '/admin/customers/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        email: string | null
        created_at: string
        deleted_at: string | null
        timezone: string
        profile: {
          full_name: string
          /**
           * Mascarado.
           */
          cpf_cnpj: string
          kind: 'cpf' | 'cnpj'
          city: string | null
          state: string | null
        } | null
        balance: {
          /**
           * BRL
           */
          balance_brl: number
          /**
           * BRL
           */
          held_brl: number
          /**
           * BRL
           */
          available_brl: number
          /**
           * BRL
           */
          promotional_brl: number
          /**
           * BRL
           */
          credited_brl: number
          /**
           * BRL
           */
          debited_brl: number
          /**
           * BRL
           */
          charged_brl: number
        }
        suspension: {
          since: string
          cause: 'chargeback' | 'operator'
          /**
           * O motivo, escrito para o cliente.
           */
          reason: string
        } | null
        second_factor: {
          /**
           * Códigos de um aplicativo.
           */
          is_on: boolean
          reset: {
            requested_by: string
            requested_by_name: string | null
            requested_at: string
            reason: string
          } | null
        }
        keys: {
          active: number
          suspended: number
          revoked: number
          expired: number
        }
        /**
         * As usadas por último, sem as revogadas.
         */
        last_keys: {
          id: string
          name: string
          last_four: string
          status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
          paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
          last_used_at: string | null
        }[]
        last_topups: {
          id: string
          /**
           * BRL
           */
          amount_brl: number
          /**
           * BRL
           */
          returned_brl: number
          method: string
          status: string
          created_at: string
          paid_at: string | null
        }[]
        flags: {
          has_profile: boolean
          is_admin: boolean
          /**
           * Por falta de saldo.
           */
          are_keys_suspended: boolean
          is_in_debt: boolean
        }
        /**
         * Sem o que foi pedido ou respondido, que não se guarda.
         */
        last_calls: {
          id: string
          request_id: string
          model_id: string
          api_key_name: string | null
          status: 'charged' | 'failed'
          /**
           * Por que falhou, em nossas palavras.
           */
          reason: string | null
          /**
           * BRL
           */
          cost_billed_brl: number
          duration_ms: number | null
          created_at: string
        }[]
        /**
         * As chamadas recusadas nos últimos sete dias, por motivo.
         */
        refusals: {
          code: string
          status: number
          refusals: number
          last_at: string
        }[]
        last_mails: {
          id: string
          template: string
          status: 'sent' | 'failed' | 'waiting'
          error: string | null
          at: string
        }[]
      }
    }
    /**
     * O que operadores anotaram sobre um cliente, o mais novo primeiro
     */
    '/admin/customers/{id}/notes': {
      path: {
        id: string
      }
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        notes: {
          id: string
          note: string
          written_by: string
          written_by_name: string | null
          created_at: string
        }[]
        next_cursor: string | null
      }
    }
    /**
     * Os lançamentos à mão, os mais novos primeiro
     */
    '/admin/adjustments': {
      query: {
        status?: 'pending' | 'posted' | 'rejected'
        customer_id?: string
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        adjustments: {
          id: string
          customer_id: string
          customer_name: string | null
          kind: 'credit' | 'debit' | 'promotional_credit'
          /**
           * BRL
           */
          amount_brl: number
          reason: string
          reference: string
          status: 'pending' | 'posted' | 'rejected'
          requested_by: string
          requested_by_name: string | null
          decided_by: string | null
          decided_by_name: string | null
          created_at: string
          decided_at: string | null
        }[]
        /**
         * BRL; acima disso, num lançamento ou na soma de 24 horas sem aprovação, um lançamento espera por outra pessoa.
         */
        approval_above_brl: number
        next_cursor: string | null
      }
    }
    /**
     * E-mails que falharam, ou que esperam há mais de dez minutos
     */
    '/admin/mails/in-trouble': {
      query: {
        limit?: number
        /**
         * O `next_cursor` da página anterior.
         */
        cursor?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        mails: {
          id: string
          customer_id: string
          template: string
          status: 'failed' | 'waiting'
          /**
           * Mascarado.
           */
          address: string | null
          error: string | null
          tries: number | null
          next_try_at: string | null
          since: string
        }[]
        next_cursor: string | null
      }
    }
    /**
     * O custo nos provedores, o cobrado e a margem, por dia, modelo e provedor
     */
    '/admin/margins': {
      query: {
        /**
         * Primeiro dia, no horário de Brasília; sem ele, 30 dias até o último.
         */
        from?: string
        /**
         * Último dia, incluído; sem ele, hoje. Até 92 dias.
         */
        to?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        from: string
        to: string
        timezone: 'America/Sao_Paulo'
        totals: {
          /**
           * Chamadas cobradas.
           */
          requests: number
          /**
           * USD
           */
          cost_upstream_usd: number
          /**
           * O custo de cada chamada no câmbio dela, em BRL.
           */
          cost_upstream_brl: number
          /**
           * O cobrado dos clientes, também do crédito promocional.
           */
          billed_brl: number
          /**
           * O cobrado menos o custo.
           */
          margin_brl: number
          /**
           * Do cobrado, com até dois decimais; nulo onde nada foi cobrado.
           */
          margin_percent: number | null
        }
        topups: {
          /**
           * Recargas pagas no período.
           */
          count: number
          /**
           * O que foi pago nelas, também o devolvido depois.
           */
          paid_brl: number
        }
        /**
         * Do mais antigo ao último; os dias sem uso também.
         *
         * @maxItems 92
         */
        by_day: {
          day: string
          /**
           * Chamadas cobradas.
           */
          requests: number
          /**
           * USD
           */
          cost_upstream_usd: number
          /**
           * O custo de cada chamada no câmbio dela, em BRL.
           */
          cost_upstream_brl: number
          /**
           * O cobrado dos clientes, também do crédito promocional.
           */
          billed_brl: number
          /**
           * O cobrado menos o custo.
           */
          margin_brl: number
          /**
           * Do cobrado, com até dois decimais; nulo onde nada foi cobrado.
           */
          margin_percent: number | null
        }[]
        by_model: {
          model_id: string
          /**
           * Chamadas cobradas.
           */
          requests: number
          /**
           * USD
           */
          cost_upstream_usd: number
          /**
           * O custo de cada chamada no câmbio dela, em BRL.
           */
          cost_upstream_brl: number
          /**
           * O cobrado dos clientes, também do crédito promocional.
           */
          billed_brl: number
          /**
           * O cobrado menos o custo.
           */
          margin_brl: number
          /**
           * Do cobrado, com até dois decimais; nulo onde nada foi cobrado.
           */
          margin_percent: number | null
        }[]
        by_upstream: {
          /**
           * Nulo: não se sabe.
           */
          upstream: string | null
          /**
           * Chamadas cobradas.
           */
          requests: number
          /**
           * USD
           */
          cost_upstream_usd: number
          /**
           * O custo de cada chamada no câmbio dela, em BRL.
           */
          cost_upstream_brl: number
          /**
           * O cobrado dos clientes, também do crédito promocional.
           */
          billed_brl: number
          /**
           * O cobrado menos o custo.
           */
          margin_brl: number
          /**
           * Do cobrado, com até dois decimais; nulo onde nada foi cobrado.
           */
          margin_percent: number | null
        }[]
      }
    }
  }
  post: {
    /**
     * Responde a uma conversa, de uma vez ou em stream
     */
    '/chat/completions': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        /**
         * @minItems 1
         */
        messages: {
          role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
          content?:
            | string
            | {
                [k: string]: unknown
              }[]
            | null
          [k: string]: unknown
        }[]
        max_tokens?: number
        temperature?: number
        stream?: boolean
        tools?: {
          [k: string]: unknown
        }[]
        response_format?: {
          type: string
          [k: string]: unknown
        }
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        id: string
        object: 'chat.completion'
        created: number
        model: string
        choices: {
          index: number
          message: {
            role: string
            content?: string | null
            [k: string]: unknown
          }
          finish_reason: string
          [k: string]: unknown
        }[]
        usage: {
          prompt_tokens: number
          completion_tokens: number
          total_tokens: number
          [k: string]: unknown
        }
        /**
         * BRL
         */
        cost_billed_brl: number
      }
    }
    /**
     * Responde a um texto no formato antigo de completions, de uma vez ou em stream
     */
    '/completions': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        prompt: string | string[]
        max_tokens?: number
        temperature?: number
        stream?: boolean
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        id: string
        object: 'text_completion'
        created: number
        model: string
        choices: {
          text: string
          index: number
          logprobs: null
          finish_reason: string
        }[]
        usage: {
          prompt_tokens: number
          completion_tokens: number
          total_tokens: number
          [k: string]: unknown
        }
        /**
         * BRL
         */
        cost_billed_brl: number
      }
    }
    /**
     * Responde a uma conversa no formato Responses, de uma vez ou em stream
     */
    '/responses': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        input:
          | string
          | {
              type?: string
              [k: string]: unknown
            }[]
        instructions?: string | null
        max_output_tokens?: number | null
        temperature?: number | null
        stream?: boolean | null
        tools?:
          | {
              type: string
              [k: string]: unknown
            }[]
          | null
        previous_response_id?: string | null
        store?: boolean | null
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        id: string
        object: 'response'
        created_at: number
        model: string
        output: {
          id: string
          type: string
          [k: string]: unknown
        }[]
        status: 'completed' | 'incomplete'
        store: boolean
        usage: {
          input_tokens: number
          input_tokens_details: {
            cached_tokens: number
            cache_write_tokens: number
          }
          output_tokens: number
          output_tokens_details: {
            reasoning_tokens: number
          }
          total_tokens: number
        }
        /**
         * BRL
         */
        cost_billed_brl: number
        [k: string]: unknown
      }
    }
    /**
     * Resume uma conversa no formato Responses num item, que se envia no lugar dela
     */
    '/responses/compact': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        input?:
          | string
          | {
              type?: string
              [k: string]: unknown
            }[]
        instructions?: string | null
        tools?:
          | {
              type: string
              [k: string]: unknown
            }[]
          | null
        previous_response_id?: string | null
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        id: string
        object: 'response.compaction'
        created_at: number
        output: {
          id: string
          type: string
          [k: string]: unknown
        }[]
        usage: {
          input_tokens: number
          input_tokens_details: {
            cached_tokens: number
            cache_write_tokens: number
          }
          output_tokens: number
          output_tokens_details: {
            reasoning_tokens: number
          }
          total_tokens: number
        }
        /**
         * BRL
         */
        cost_billed_brl: number
      }
    }
    /**
     * Estima os tokens de uma requisição no formato Responses, sem custo
     */
    '/responses/input_tokens': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        input?:
          | string
          | {
              type?: string
              [k: string]: unknown
            }[]
        instructions?: string | null
        tools?:
          | {
              type: string
              [k: string]: unknown
            }[]
          | null
        previous_response_id?: string | null
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        object: 'response.input_tokens'
        input_tokens: number
      }
    }
    /**
     * Responde a uma conversa no formato Messages, de uma vez ou em stream
     */
    '/messages': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        /**
         * @minItems 1
         */
        messages: {
          role: 'user' | 'assistant' | 'system'
          content:
            | string
            | {
                [k: string]: unknown
              }[]
          [k: string]: unknown
        }[]
        system?:
          | string
          | {
              [k: string]: unknown
            }[]
        tools?: {
          [k: string]: unknown
        }[]
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        max_tokens: number
        temperature?: number
        stream?: boolean
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        id: string
        type: 'message'
        role: 'assistant'
        model: string
        content: {
          type: string
          [k: string]: unknown
        }[]
        stop_reason: string
        stop_sequence: string | null
        stop_details?: {
          [k: string]: unknown
        }
        context_management?: {
          [k: string]: unknown
        }
        usage: {
          input_tokens: number
          cache_creation_input_tokens: number
          cache_read_input_tokens: number
          cache_creation: {
            ephemeral_5m_input_tokens: number
            ephemeral_1h_input_tokens: number
          }
          output_tokens: number
        }
        /**
         * BRL
         */
        cost_billed_brl: number
      }
    }
    /**
     * Estima os tokens de uma requisição no formato Messages, sem custo
     */
    '/messages/count_tokens': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        /**
         * @minItems 1
         */
        messages: {
          role: 'user' | 'assistant' | 'system'
          content:
            | string
            | {
                [k: string]: unknown
              }[]
          [k: string]: unknown
        }[]
        system?:
          | string
          | {
              [k: string]: unknown
            }[]
        tools?: {
          [k: string]: unknown
        }[]
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        input_tokens: number
      }
    }
    /**
     * Transforma textos em vetores
     */
    '/embeddings': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        input: string | string[]
        dimensions?: number
        encoding_format?: 'float' | 'base64'
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        object: 'list'
        data: {
          object: 'embedding'
          index: number
          embedding: number[] | string
        }[]
        model: string
        usage: {
          prompt_tokens: number
          total_tokens: number
        }
        /**
         * BRL
         */
        cost_billed_brl: number
      }
    }
    /**
     * Ordena documentos pelo que respondem a uma pergunta
     */
    '/rerank': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        query: string
        /**
         * @minItems 1
         * @maxItems 1000
         */
        documents: (
          | string
          | {
              text: string
              [k: string]: unknown
            }
        )[]
        top_n?: number
        return_documents?: boolean
        max_tokens_per_doc?: number
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        id: string
        model: string
        results: {
          index: number
          relevance_score: number
          document?: {
            text: string
          }
        }[]
        meta: {
          api_version: {
            version: string
          }
          billed_units: {
            search_units?: number
          }
        }
        usage?: {
          total_tokens: number
        }
        /**
         * BRL
         */
        cost_billed_brl: number
      }
    }
    /**
     * Julga se um conteúdo é nocivo
     */
    '/moderations': {
      body: {
        model?: string
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        input:
          | string
          | string[]
          | (
              | {
                  type: 'text'
                  text: string
                  [k: string]: unknown
                }
              | {
                  type: 'image_url'
                  image_url: {
                    url: string
                    [k: string]: unknown
                  }
                  [k: string]: unknown
                }
            )[]
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        id: string
        model: string
        results: {
          flagged: boolean
          categories: {
            [k: string]: boolean | null
          }
          category_scores: {
            [k: string]: number
          }
          category_applied_input_types?: {
            [k: string]: string[]
          }
        }[]
        usage: {
          prompt_tokens: number
          total_tokens: number
        }
        /**
         * BRL
         */
        cost_billed_brl: number
      }
    }
    /**
     * Gera imagens a partir de um texto
     */
    '/images/generations': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        prompt: string
        n?: number
        /**
         * <largura>x<altura>
         */
        size?: string
        quality?: string
        response_format?: 'url' | 'b64_json'
        /**
         * Um evento com cada imagem em base64.
         */
        stream?: boolean
        /**
         * Aceito; só as imagens prontas são enviadas.
         */
        partial_images?: number
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        created: number
        data: {
          url?: string
          b64_json?: string
          revised_prompt?: string
        }[]
        usage?: {
          input_tokens: number
          output_tokens: number
          total_tokens: number
        }
        /**
         * BRL
         */
        cost_billed_brl: number
      }
    }
    /**
     * Edita imagens
     */
    '/images/edits': {
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        created: number
        data: {
          url?: string
          b64_json?: string
          revised_prompt?: string
        }[]
        usage?: {
          input_tokens: number
          output_tokens: number
          total_tokens: number
        }
        /**
         * BRL
         */
        cost_billed_brl: number
      }
    }
    /**
     * Fala um texto
     */
    '/audio/speech': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        input: string
        voice: string
        instructions?: string
        response_format?: 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm'
        speed?: number
        stream_format?: 'audio' | 'sse'
        [k: string]: unknown
      }
      answer: string
    }
    /**
     * Começa um vídeo, que é cobrado por segundo quando fica pronto
     */
    '/videos': {
      body: {
        /**
         * Um modelo do catálogo: GET /models.
         */
        model: string
        /**
         * Modelos de reserva, nesta ordem, se o primeiro não responder.
         *
         * @maxItems 5
         */
        models?: string[]
        provider?: {
          order?: string[] | null
          only?: string[] | null
          ignore?: string[] | null
          sort?: ('price' | 'latency' | 'throughput') | null
          max_price?: {
            prompt?: (number | string) | null
            completion?: (number | string) | null
          } | null
          allow_fallbacks?: boolean | null
          data_collection?: ('allow' | 'deny') | null
          [k: string]: unknown
        } | null
        prompt: string
        /**
         * Um dos comprimentos do modelo; sem ele, o primeiro.
         */
        seconds?: string | number
        /**
         * Um dos tamanhos do modelo; sem ele, o primeiro.
         */
        size?: string
        [k: string]: unknown
      }
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        id: string
        object: 'video'
        model: string
        status: 'queued' | 'in_progress' | 'completed' | 'failed'
        progress: number
        created_at: number
        completed_at: number | null
        expires_at: number | null
        /**
         * Os pedidos; depois de pronto, os que foram cobrados.
         */
        seconds: string
        size: string | null
        /**
         * O prompt não é guardado.
         */
        prompt: null
        remixed_from_video_id: null
        error: {
          code: string
          message: string
        } | null
        cost_billed_brl: number | null
      }
    }
    /**
     * Guarda um arquivo para um lote, por até 30 dias
     */
    '/files': {
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'file'
        bytes: number
        created_at: number
        expires_at: number
        filename: string
        purpose: 'batch' | 'batch_output'
        status: 'processed'
      }
    }
    /**
     * Cria um lote: cada linha do arquivo é uma chamada desta chave, ao preço de sempre
     */
    '/batches': {
      idempotency_key: string
      body: {
        input_file_id: string
        endpoint:
          | '/v1/chat/completions'
          | '/v1/completions'
          | '/v1/responses'
          | '/v1/embeddings'
          | '/v1/moderations'
        completion_window: '24h'
        metadata?: {
          [k: string]: string
        } | null
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'batch'
        endpoint: string
        errors: null
        input_file_id: string
        completion_window: '24h'
        status: 'in_progress' | 'completed' | 'expired' | 'cancelling' | 'cancelled'
        output_file_id: string | null
        error_file_id: string | null
        created_at: number
        in_progress_at: number
        expires_at: number
        finalizing_at: number | null
        completed_at: number | null
        failed_at: null
        expired_at: number | null
        cancelling_at: number | null
        cancelled_at: number | null
        request_counts: {
          total: number
          completed: number
          failed: number
        }
        metadata: {
          [k: string]: string
        } | null
      }
    }
    /**
     * Cancela um lote: as linhas em andamento terminam, e nenhuma outra começa
     */
    '/batches/{id}/cancel': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'batch'
        endpoint: string
        errors: null
        input_file_id: string
        completion_window: '24h'
        status: 'in_progress' | 'completed' | 'expired' | 'cancelling' | 'cancelled'
        output_file_id: string | null
        error_file_id: string | null
        created_at: number
        in_progress_at: number
        expires_at: number
        finalizing_at: number | null
        completed_at: number | null
        failed_at: null
        expired_at: number | null
        cancelling_at: number | null
        cancelled_at: number | null
        request_counts: {
          total: number
          completed: number
          failed: number
        }
        metadata: {
          [k: string]: string
        } | null
      }
    }
    /**
     * Cria um lote de Messages: cada item é uma chamada desta chave, ao preço de sempre
     */
    '/messages/batches': {
      idempotency_key: string
      body: {
        /**
         * @minItems 1
         * @maxItems 50000
         */
        requests: {
          custom_id: string
          params: {
            [k: string]: unknown
          }
        }[]
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        type: 'message_batch'
        processing_status: 'in_progress' | 'canceling' | 'ended'
        request_counts: {
          processing: number
          succeeded: number
          errored: number
          canceled: number
          expired: number
        }
        created_at: string
        expires_at: string
        ended_at: string | null
        cancel_initiated_at: string | null
        archived_at: null
        results_url: string | null
      }
    }
    /**
     * Cancela um lote de Messages: as chamadas em andamento terminam, e nenhuma outra começa
     */
    '/messages/batches/{id}/cancel': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        type: 'message_batch'
        processing_status: 'in_progress' | 'canceling' | 'ended'
        request_counts: {
          processing: number
          succeeded: number
          errored: number
          canceled: number
          expired: number
        }
        created_at: string
        expires_at: string
        ended_at: string | null
        cancel_initiated_at: string | null
        archived_at: null
        results_url: string | null
      }
    }
    /**
     * Cria um destino de uso: um Langfuse, ou um coletor OTLP
     */
    '/usage/destinations': {
      idempotency_key: string
      body: {
        kind: 'langfuse' | 'otlp'
        /**
         * https, de um endereço público. langfuse: o da instância, como https://cloud.langfuse.com; otlp: o endpoint do coletor, ao qual se acrescenta /v1/traces.
         */
        url: string
        /**
         * langfuse: a chave pública do projeto.
         */
        public_key?: string
        /**
         * langfuse: a chave secreta do projeto; nunca mais é mostrada.
         */
        secret_key?: string
        /**
         * otlp: cabeçalhos de cada envio, como authorization; nunca mais são mostrados.
         */
        headers?: {
          [k: string]: string
        }
        /**
         * Envia também prompts e respostas, mas só de chamadas a /v1/responses que a conta armazena. Padrão: false.
         */
        includes_content?: boolean
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        kind: 'langfuse' | 'otlp'
        url: string
        public_key: string | null
        header_names: string[]
        includes_content: boolean
        is_enabled: boolean
        disabled_at: string | null
        /**
         * customer: por você; failing: nada foi aceito por três dias.
         */
        disabled_reason: ('customer' | 'failing') | null
        created_at: string
        /**
         * Cobranças aceitas pelo destino.
         */
        sent: number
        /**
         * Cobranças que o destino recusou de vez.
         */
        rejected: number
        /**
         * Cobranças não enviadas em sete dias, e por isso descartadas.
         */
        given_up: number
        last_success_at: string | null
        /**
         * Falhas seguidas.
         */
        failures: number
        failing_since: string | null
        last_failed_at: string | null
        last_error:
          | (
              | 'timeout'
              | 'refused_address'
              | 'https_required'
              | 'connection_failed'
              | 'redirect'
              | 'unauthorized'
              | 'not_found'
              | 'http_status'
              | 'spans_refused'
              | 'batch_refused'
              | 'batch_too_large'
              | 'secret_unreadable'
            )
          | null
        last_http_status: number | null
        last_answer: string | null
        /**
         * Depois de uma falha.
         */
        next_try_at: string | null
        test: {
          asked_at: string
          tested_at: string | null
          error:
            | (
                | 'timeout'
                | 'refused_address'
                | 'https_required'
                | 'connection_failed'
                | 'redirect'
                | 'unauthorized'
                | 'not_found'
                | 'http_status'
                | 'spans_refused'
                | 'batch_refused'
                | 'batch_too_large'
                | 'secret_unreadable'
              )
            | null
        } | null
      }
    }
    /**
     * Envia um span de teste em segundos; o resultado fica em test
     */
    '/usage/destinations/{id}/test': {
      path: {
        id: string
      }
      idempotency_key: string
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        kind: 'langfuse' | 'otlp'
        url: string
        public_key: string | null
        header_names: string[]
        includes_content: boolean
        is_enabled: boolean
        disabled_at: string | null
        /**
         * customer: por você; failing: nada foi aceito por três dias.
         */
        disabled_reason: ('customer' | 'failing') | null
        created_at: string
        /**
         * Cobranças aceitas pelo destino.
         */
        sent: number
        /**
         * Cobranças que o destino recusou de vez.
         */
        rejected: number
        /**
         * Cobranças não enviadas em sete dias, e por isso descartadas.
         */
        given_up: number
        last_success_at: string | null
        /**
         * Falhas seguidas.
         */
        failures: number
        failing_since: string | null
        last_failed_at: string | null
        last_error:
          | (
              | 'timeout'
              | 'refused_address'
              | 'https_required'
              | 'connection_failed'
              | 'redirect'
              | 'unauthorized'
              | 'not_found'
              | 'http_status'
              | 'spans_refused'
              | 'batch_refused'
              | 'batch_too_large'
              | 'secret_unreadable'
            )
          | null
        last_http_status: number | null
        last_answer: string | null
        /**
         * Depois de uma falha.
         */
        next_try_at: string | null
        test: {
          asked_at: string
          tested_at: string | null
          error:
            | (
                | 'timeout'
                | 'refused_address'
                | 'https_required'
                | 'connection_failed'
                | 'redirect'
                | 'unauthorized'
                | 'not_found'
                | 'http_status'
                | 'spans_refused'
                | 'batch_refused'
                | 'batch_too_large'
                | 'secret_unreadable'
              )
            | null
        } | null
      }
    }
    /**
     * Cria o endereço público de uma cobrança ou de uma sessão; se já existe, o devolve
     */
    '/me/public-bills': {
      idempotency_key: string
      body: {
        usage_event_id?: string
        session_id?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * Quem tem este endereço lê a conta, sem entrar.
         */
        url: string
        usage_event_id: string | null
        session_id: string | null
        created_at: string
      }
    }
    /**
     * Cria uma chave; o segredo só é mostrado na resposta
     */
    '/api-keys': {
      idempotency_key: string
      body: {
        /**
         * Texto de 3 a 50 caracteres.
         */
        name?: unknown
        /**
         * Lista de ids do catálogo, ao menos um válido; obrigatória numa chave nova. Os que não existem são ignorados: a resposta traz os que valem. Com ["*"], a chave chama todos os modelos, também os que vierem depois.
         */
        model_ids?: unknown
        ip_allowlist?: string[] | null
        /**
         * Sem ele, 120 numa chave nova.
         */
        requests_per_minute?: number
        tokens_per_minute?: number | null
        budget?: {
          /**
           * USD, com até 6 casas decimais.
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
        } | null
        minute_cap_brl?: number | null
        day_cap_brl?: number | null
        task_cap_brl?: number | null
        calls_at_once?: number | null
        cache_seconds?: number | null
        /**
         * Marca o começo das conversas para o cache do provedor, nos modelos que só guardam o que vem marcado (cache_control, como os da Anthropic): escrever custa mais uma vez, e ler, muito menos. Vale para prompts a partir de uns 1.024 tokens e sem marcas do próprio cliente.
         */
        auto_cache?: boolean
        expires_at?: string | null
        /**
         * O que a chave pode: calls, chamadas aos modelos e GET /usage; account, também o autoatendimento; manage, também chaves, cartões salvos, webhooks, equipes e a exclusão da conta. manage só é dado numa sessão do painel que acabou de confirmar a identidade. operator, só de quem opera o serviço, lê as rotas /admin e não faz mais nada; vale no máximo 90 dias.
         */
        scope?: 'calls' | 'account' | 'manage' | 'operator'
        /**
         * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
         */
        shield?: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        } | null
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        last_four: string
        status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
        scope: 'calls' | 'account' | 'manage' | 'operator'
        model_ids: string[] | null
        ip_allowlist: string[] | null
        requests_per_minute: number
        tokens_per_minute: number | null
        /**
         * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
         */
        shield: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        } | null
        budget: {
          /**
           * USD
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
          /**
           * USD
           */
          spent_usd: number
        } | null
        minute_cap_brl: number | null
        minute_cap_used_brl: number | null
        day_cap_brl: number | null
        day_cap_used_brl: number | null
        task_cap_brl: number | null
        calls_at_once: number | null
        cache_seconds: number | null
        auto_cache: boolean
        team_id: string | null
        last_used_at: string | null
        created_at: string
        expires_at: string | null
        paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
        revoked_at: string | null
        /**
         * O segredo; só é mostrado esta vez.
         */
        key: string
      }
    }
    /**
     * Revoga várias chaves, ou todas
     */
    '/api-keys/bulk-revoke': {
      body: {
        /**
         * Todas; sem `ids`.
         */
        all?: true
        /**
         * Só estas; sem `all`. Um id que não é da conta não conta.
         *
         * @maxItems 100
         */
        ids?: string[]
      }
      /**
       * Tudo certo.
       */
      answer: {
        revoked: number
        alreadyInactive: number
        gatewayFailures: number
      }
    }
    /**
     * Pausa uma chave: nada mais é atendido com ela até que alguém a retome
     */
    '/api-keys/{id}/pause': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        last_four: string
        status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
        scope: 'calls' | 'account' | 'manage' | 'operator'
        model_ids: string[] | null
        ip_allowlist: string[] | null
        requests_per_minute: number
        tokens_per_minute: number | null
        /**
         * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
         */
        shield: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        } | null
        budget: {
          /**
           * USD
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
          /**
           * USD
           */
          spent_usd: number
        } | null
        minute_cap_brl: number | null
        minute_cap_used_brl: number | null
        day_cap_brl: number | null
        day_cap_used_brl: number | null
        task_cap_brl: number | null
        calls_at_once: number | null
        cache_seconds: number | null
        auto_cache: boolean
        team_id: string | null
        last_used_at: string | null
        created_at: string
        expires_at: string | null
        paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
        revoked_at: string | null
      }
    }
    /**
     * Retoma uma chave pausada
     */
    '/api-keys/{id}/resume': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        last_four: string
        status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
        scope: 'calls' | 'account' | 'manage' | 'operator'
        model_ids: string[] | null
        ip_allowlist: string[] | null
        requests_per_minute: number
        tokens_per_minute: number | null
        /**
         * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
         */
        shield: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        } | null
        budget: {
          /**
           * USD
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
          /**
           * USD
           */
          spent_usd: number
        } | null
        minute_cap_brl: number | null
        minute_cap_used_brl: number | null
        day_cap_brl: number | null
        day_cap_used_brl: number | null
        task_cap_brl: number | null
        calls_at_once: number | null
        cache_seconds: number | null
        auto_cache: boolean
        team_id: string | null
        last_used_at: string | null
        created_at: string
        expires_at: string | null
        paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
        revoked_at: string | null
      }
    }
    /**
     * Para tudo de uma vez: pausa todas as chaves, desliga a recarga automática e encerra as outras sessões do painel
     */
    '/me/panic': {
      body: {
        /**
         * Nada acontece sem ela.
         */
        confirm: true
      }
      /**
       * Tudo certo.
       */
      answer: {
        paused_keys: number
        ended_sessions: number
        /**
         * Estava ligada, e foi desligada.
         */
        is_automatic_topup_off: boolean
      }
    }
    /**
     * Informa uma chave exposta: se ela existe, é pausada na hora, e quem é dono recebe um aviso
     */
    '/leaked-keys': {
      body: {
        key: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        received: true
      }
    }
    /**
     * Salva um prompt
     */
    '/me/prompts': {
      idempotency_key: string
      body: {
        name: string
        /**
         * O texto; variáveis se escrevem {{nome}}.
         */
        body: string
        description?: string | null
        /**
         * Todas as do texto, e outras. Sem este campo: as do texto.
         *
         * @maxItems 100
         */
        variables?: string[]
        /**
         * @maxItems 20
         */
        tags?: string[]
        default_model?: string | null
        /**
         * O que vale nas chamadas com o modelo "@preset/<slug>". Os campos da própria chamada valem mais.
         */
        parameters?: {
          /**
           * O máximo da resposta, também para quem pede mais.
           */
          max_tokens?: number
          temperature?: number
          top_p?: number
          /**
           * Quem pode responder, como em POST /chat/completions.
           */
          provider?: {
            [k: string]: unknown
          }
        }
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        slug: string
        name: string
        description: string | null
        body: string
        variables: string[]
        tags: string[]
        default_model: string | null
        /**
         * O que vale nas chamadas com o modelo "@preset/<slug>". Os campos da própria chamada valem mais.
         */
        parameters: {
          /**
           * O máximo da resposta, também para quem pede mais.
           */
          max_tokens?: number
          temperature?: number
          top_p?: number
          /**
           * Quem pode responder, como em POST /chat/completions.
           */
          provider?: {
            [k: string]: unknown
          }
        }
        /**
         * Cresce quando o texto muda.
         */
        version: number
        created_at: string
        updated_at: string
      }
    }
    /**
     * Copia um prompt salvo, sem o seu histórico
     */
    '/me/prompts/{id}/clone': {
      path: {
        /**
         * UUID
         */
        id: string
      }
      idempotency_key: string
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        slug: string
        name: string
        description: string | null
        body: string
        variables: string[]
        tags: string[]
        default_model: string | null
        /**
         * O que vale nas chamadas com o modelo "@preset/<slug>". Os campos da própria chamada valem mais.
         */
        parameters: {
          /**
           * O máximo da resposta, também para quem pede mais.
           */
          max_tokens?: number
          temperature?: number
          top_p?: number
          /**
           * Quem pode responder, como em POST /chat/completions.
           */
          provider?: {
            [k: string]: unknown
          }
        }
        /**
         * Cresce quando o texto muda.
         */
        version: number
        created_at: string
        updated_at: string
      }
    }
    /**
     * Executa um prompt salvo com os valores dados, e o cobra pela chave dada
     */
    '/me/prompts/{id}/run': {
      path: {
        /**
         * UUID
         */
        id: string
      }
      body: {
        /**
         * Uma chave ativa da mesma conta; paga a execução. Obrigatória sem `api_key_id`.
         */
        api_key?: string
        /**
         * Numa sessão do painel, em lugar de `api_key`: o id da chave.
         */
        api_key_id?: string
        /**
         * O valor de cada variável do prompt.
         */
        values?: {
          [k: string]: string
        }
        model?: string | null
        max_tokens?: number
        temperature?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'chat.completion'
        created: number
        model: string
        choices: {
          index: number
          message: {
            role: string
            content?: string | null
            [k: string]: unknown
          }
          finish_reason: string
          [k: string]: unknown
        }[]
        usage: {
          prompt_tokens: number
          completion_tokens: number
          total_tokens: number
          [k: string]: unknown
        }
        /**
         * BRL
         */
        cost_billed_brl: number
      }
    }
    /**
     * Pede o crédito para experimentar: um por CPF ou CNPJ, caixa de e-mail e aparelho, em contas sem nenhum crédito
     */
    '/me/trial-credit': {
      idempotency_key: string
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * `offered`: a conta pode pedir, com um CPF ou CNPJ no perfil. `none`: não há crédito para esta conta.
         */
        status: 'offered' | 'granted' | 'none'
        /**
         * Crédito promocional: é gasto primeiro e não é devolvido.
         */
        amount_brl: number
        granted_at: string | null
      }
    }
    /**
     * Cria uma equipe, cujas chaves gastam o saldo de quem a cria
     */
    '/me/teams': {
      idempotency_key: string
      body: {
        name: string
        monthly_cap_brl?: number | null
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        role: 'owner' | 'admin' | 'member'
        /**
         * O nome de quem é dono; só a inicial para os outros.
         */
        owner: string
        monthly_cap_brl: number | null
        /**
         * BRL
         */
        spent_this_month_brl: number
        /**
         * BRL, reservados por requisições em andamento.
         */
        held_brl: number
        remaining_brl: number | null
        requests_this_month: number
        tokens_this_month: number
        /**
         * Sem contar quem é dono.
         */
        member_count: number
        /**
         * As chaves que não foram revogadas.
         */
        key_count: number
        created_at: string
      }
    }
    /**
     * Convida alguém para uma equipe; o convite vale sete dias
     */
    '/me/teams/{id}/invitations': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
      }
      idempotency_key: string
      body: {
        email: string
        role: 'admin' | 'member'
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        email: string
        role: 'admin' | 'member'
        invited_by: string
        created_at: string
        expires_at: string
        /**
         * Só é mostrado esta vez.
         */
        token: string
      }
    }
    /**
     * Aceita um convite feito para o próprio e-mail, com o código que chegou nele
     */
    '/me/invitations/accept': {
      idempotency_key: string
      body: {
        token: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        team_id: string
        team_name: string
        role: 'admin' | 'member'
      }
    }
    /**
     * Aceita um convite sem o código: para quem já entrou no painel com aquele e-mail
     */
    '/me/invitations/{id}/accept': {
      path: {
        /**
         * UUID do convite
         */
        id: string
      }
      idempotency_key: string
      /**
       * Tudo certo.
       */
      answer: {
        team_id: string
        team_name: string
        role: 'admin' | 'member'
      }
    }
    /**
     * Cria uma chave da equipe; o segredo só é mostrado esta vez
     */
    '/me/teams/{id}/keys': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
      }
      idempotency_key: string
      body: {
        /**
         * Texto de 3 a 50 caracteres.
         */
        name?: unknown
        /**
         * Lista de ids do catálogo, ao menos um válido; obrigatória numa chave nova. Os que não existem são ignorados: a resposta traz os que valem. Com ["*"], a chave chama todos os modelos, também os que vierem depois.
         */
        model_ids?: unknown
        ip_allowlist?: string[] | null
        /**
         * Sem ele, 120 numa chave nova.
         */
        requests_per_minute?: number
        tokens_per_minute?: number | null
        budget?: {
          /**
           * USD, com até 6 casas decimais.
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
        } | null
        minute_cap_brl?: number | null
        day_cap_brl?: number | null
        task_cap_brl?: number | null
        calls_at_once?: number | null
        cache_seconds?: number | null
        /**
         * Marca o começo das conversas para o cache do provedor, nos modelos que só guardam o que vem marcado (cache_control, como os da Anthropic): escrever custa mais uma vez, e ler, muito menos. Vale para prompts a partir de uns 1.024 tokens e sem marcas do próprio cliente.
         */
        auto_cache?: boolean
        expires_at?: string | null
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        last_four: string
        status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
        scope: 'calls' | 'account' | 'manage' | 'operator'
        model_ids: string[] | null
        ip_allowlist: string[] | null
        requests_per_minute: number
        tokens_per_minute: number | null
        /**
         * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
         */
        shield: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        } | null
        budget: {
          /**
           * USD
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
          /**
           * USD
           */
          spent_usd: number
        } | null
        minute_cap_brl: number | null
        minute_cap_used_brl: number | null
        day_cap_brl: number | null
        day_cap_used_brl: number | null
        task_cap_brl: number | null
        calls_at_once: number | null
        cache_seconds: number | null
        auto_cache: boolean
        team_id: string | null
        last_used_at: string | null
        created_at: string
        expires_at: string | null
        paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
        revoked_at: string | null
        /**
         * O segredo; só é mostrado esta vez.
         */
        key: string
        created_by: string | null
      }
    }
    /**
     * Cria um alerta de saldo, de gasto ou de erros, da conta, de uma chave ou de uma equipe
     */
    '/me/alerts': {
      idempotency_key: string
      body: {
        name: string
        kind: 'balance_below' | 'daily_spend' | 'monthly_spend' | 'runway_days' | 'error_rate'
        /**
         * Em BRL (balance_below, daily_spend, monthly_spend: 0.01 a 1000000), em dias inteiros (runway_days: 1 a 365) ou em % das chamadas da última hora (error_rate: 1 a 100). Gastos e erros disparam ao chegar ao limite, saldo e dias ao ficar abaixo dele.
         */
        threshold: number
        /**
         * @minItems 1
         * @maxItems 2
         */
        channels: ('email' | 'webhook')[]
        api_key_id?: string | null
        team_id?: string | null
        is_enabled?: boolean
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        kind: 'balance_below' | 'daily_spend' | 'monthly_spend' | 'runway_days' | 'error_rate'
        threshold: number
        api_key_id: string | null
        team_id: string | null
        /**
         * @minItems 1
         * @maxItems 2
         */
        channels: ('email' | 'webhook')[]
        is_enabled: boolean
        /**
         * triggered: disparou, e só dispara de novo depois de voltar 10% além do limite; gastos, no próximo dia ou mês.
         */
        state: 'ok' | 'triggered'
        last_fired_at: string | null
        last_value: number | null
        created_at: string
        updated_at: string
      }
    }
    /**
     * Cria um webhook; o segredo das assinaturas só é mostrado na resposta
     */
    '/webhooks': {
      idempotency_key: string
      body: {
        /**
         * https, de um endereço público.
         */
        url: string
        description?: string | null
        event_types?:
          | (
              | 'topup.created'
              | 'topup.paid'
              | 'topup.expired'
              | 'topup.failed'
              | 'topup.refunded'
              | 'topup.chargeback'
              | 'topup.automatic_disabled'
              | 'balance.low'
              | 'balance.depleted'
              | 'balance.restored'
              | 'key.created'
              | 'key.revoked'
              | 'key.paused'
              | 'key.resumed'
              | 'refund.requested'
              | 'refund.completed'
              | 'refund.rejected'
              | 'refund.failed'
              | 'alert.triggered'
              | 'referral.rewarded'
              | 'price.changed'
              | 'model.ending'
              | 'account.suspended'
              | 'account.reinstated'
              | 'webhook.test'
            )[]
          | null
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        url: string
        description: string | null
        event_types:
          | (
              | 'topup.created'
              | 'topup.paid'
              | 'topup.expired'
              | 'topup.failed'
              | 'topup.refunded'
              | 'topup.chargeback'
              | 'topup.automatic_disabled'
              | 'balance.low'
              | 'balance.depleted'
              | 'balance.restored'
              | 'key.created'
              | 'key.revoked'
              | 'key.paused'
              | 'key.resumed'
              | 'refund.requested'
              | 'refund.completed'
              | 'refund.rejected'
              | 'refund.failed'
              | 'alert.triggered'
              | 'referral.rewarded'
              | 'price.changed'
              | 'model.ending'
              | 'account.suspended'
              | 'account.reinstated'
              | 'webhook.test'
            )[]
          | null
        is_enabled: boolean
        disabled_at: string | null
        /**
         * customer: por você; gone: o destino respondeu 410; failing: falhou da primeira à última tentativa.
         */
        disabled_reason: ('customer' | 'gone' | 'failing') | null
        /**
         * Quando falhou a primeira tentativa depois do último sucesso.
         */
        failing_since: string | null
        created_at: string
        /**
         * Só é mostrado aqui, uma única vez.
         */
        signing_secret: string
      }
    }
    /**
     * Troca o segredo das assinaturas; o antigo deixa de valer na hora
     */
    '/webhooks/{id}/rotate-secret': {
      path: {
        id: string
      }
      idempotency_key: string
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        url: string
        description: string | null
        event_types:
          | (
              | 'topup.created'
              | 'topup.paid'
              | 'topup.expired'
              | 'topup.failed'
              | 'topup.refunded'
              | 'topup.chargeback'
              | 'topup.automatic_disabled'
              | 'balance.low'
              | 'balance.depleted'
              | 'balance.restored'
              | 'key.created'
              | 'key.revoked'
              | 'key.paused'
              | 'key.resumed'
              | 'refund.requested'
              | 'refund.completed'
              | 'refund.rejected'
              | 'refund.failed'
              | 'alert.triggered'
              | 'referral.rewarded'
              | 'price.changed'
              | 'model.ending'
              | 'account.suspended'
              | 'account.reinstated'
              | 'webhook.test'
            )[]
          | null
        is_enabled: boolean
        disabled_at: string | null
        /**
         * customer: por você; gone: o destino respondeu 410; failing: falhou da primeira à última tentativa.
         */
        disabled_reason: ('customer' | 'gone' | 'failing') | null
        /**
         * Quando falhou a primeira tentativa depois do último sucesso.
         */
        failing_since: string | null
        created_at: string
        /**
         * Só é mostrado aqui, uma única vez.
         */
        signing_secret: string
      }
    }
    /**
     * Põe na fila uma mensagem webhook.test
     */
    '/webhooks/{id}/test': {
      path: {
        id: string
      }
      idempotency_key: string
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * Desta tentativa; vai no cabeçalho x-svc-delivery-id.
         */
        delivery_id: string
        webhook_id: string
        /**
         * O mesmo em todas as tentativas e reenvios; vai no cabeçalho webhook-id.
         */
        message_id: string
        event_type: string
        try_number: number
        is_replay: boolean
        status: 'queued' | 'running' | 'delivered' | 'failed'
        due_at: string
        http_status: number | null
        latency_ms: number | null
        error: string | null
        created_at: string
        finished_at: string | null
        /**
         * Os bytes enviados e assinados.
         */
        body: string
        response_head: string | null
      }
    }
    /**
     * Põe na fila a mesma mensagem, com um novo delivery_id
     */
    '/webhooks/attempts/{attemptId}/replay': {
      path: {
        attemptId: string
      }
      idempotency_key: string
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * Desta tentativa; vai no cabeçalho x-svc-delivery-id.
         */
        delivery_id: string
        webhook_id: string
        /**
         * O mesmo em todas as tentativas e reenvios; vai no cabeçalho webhook-id.
         */
        message_id: string
        event_type: string
        try_number: number
        is_replay: boolean
        status: 'queued' | 'running' | 'delivered' | 'failed'
        due_at: string
        http_status: number | null
        latency_ms: number | null
        error: string | null
        created_at: string
        finished_at: string | null
        /**
         * Os bytes enviados e assinados.
         */
        body: string
        response_head: string | null
      }
    }
    /**
     * Cadastra um cartão no processador de pagamentos; o número e o CVV não são guardados
     */
    '/payment-methods': {
      idempotency_key: string
      body: {
        card?: {
          /**
           * Como está no cartão.
           */
          holder_name?: string
          number?: string
          /**
           * 01 a 12.
           */
          expiry_month?: string
          /**
           * Quatro dígitos.
           */
          expiry_year?: string
          /**
           * O código de segurança.
           */
          ccv?: string
        }
        holder?: {
          name?: string
          email?: string
          /**
           * CPF ou CNPJ do titular.
           */
          cpf_cnpj?: string
          /**
           * CEP.
           */
          postal_code?: string
          address_number?: string
          address_complement?: string
          /**
           * Com DDD.
           */
          phone?: string
        }
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        brand: string | null
        last_four: string
        holder_name: string
        expiry_month: number
        expiry_year: number
        created_at: string
      }
    }
    /**
     * Cria uma recarga por Pix, boleto ou cartão
     */
    '/topups': {
      idempotency_key: string
      body: {
        /**
         * BRL, de 20 a 5000, com até dois decimais.
         */
        amount?: unknown
        method?: 'pix' | 'boleto' | 'card'
        /**
         * O cartão, com o método card.
         */
        payment_method_id?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * BRL
         */
        amount_brl: number
        method: 'pix' | 'boleto' | 'card'
        status:
          | 'pending'
          | 'paid'
          | 'expired'
          | 'canceled'
          | 'failed'
          | 'refund_pending'
          | 'partially_refunded'
          | 'refunded'
          | 'chargeback'
        pix: {
          /**
           * Copia e cola.
           */
          payload: string
          /**
           * A imagem do QR Code, um PNG.
           */
          qr_code_base64: string
          expires_at: string | null
        } | null
        boleto: {
          url: string
          line: string
        } | null
        card: {
          brand: string | null
          last_four: string
        } | null
        payment_method_id: string | null
        /**
         * Feita pela recarga automática.
         */
        is_automatic: boolean
        page_url: string | null
        /**
         * BRL que voltaram a quem pagou.
         */
        returned_brl: number
        created_at: string
        paid_at: string | null
      }
    }
    /**
     * Pede um reembolso; o valor sai do saldo na hora
     */
    '/me/refunds': {
      idempotency_key: string
      body: {
        /**
         * BRL, com até dois decimais, a partir de 5; sem ele, tudo o que pode ser reembolsado.
         */
        amount?: number
        /**
         * Só desta recarga.
         */
        topup_id?: string
        reason?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * BRL
         */
        amount_brl: number
        /**
         * BRL que já voltaram a quem pagou.
         */
        returned_brl: number
        /**
         * `withdrawal`: desistência, dentro dos 7 dias do CDC (art. 49), sem valor mínimo.
         */
        kind: 'withdrawal' | 'request'
        status: 'requested' | 'approved' | 'processing' | 'done' | 'rejected' | 'failed'
        reason: string | null
        decision_note: string | null
        parts: {
          topup_id: string
          /**
           * BRL
           */
          amount_brl: number
          /**
           * `taken`: voltou por outro caminho, como uma contestação.
           */
          status: 'waiting' | 'sent' | 'done' | 'failed' | 'taken'
        }[]
        created_at: string
        ended_at: string | null
      }
    }
    /**
     * Tira um modelo do ar: chamadas recebem 503, e ele continua no catálogo
     */
    '/admin/models/{id}/disable': {
      path: {
        id: string
      }
      body: {
        /**
         * Por quê.
         */
        reason: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        is_disabled: boolean
      }
    }
    /**
     * Põe um modelo de volta no ar
     */
    '/admin/models/{id}/enable': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        is_disabled: boolean
      }
    }
    /**
     * Muda o multiplicador de um modelo; um aumento, com 7 dias de aviso aos clientes
     */
    '/admin/models/{id}/markup': {
      path: {
        id: string
      }
      idempotency_key: string
      body: {
        /**
         * Com até quatro decimais.
         */
        markup_multiplier: number
        /**
         * Sem ele, na hora.
         */
        starts_at?: string
        /**
         * Por quê.
         */
        reason: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        model_id: string
        markup_multiplier: number
        markup_multiplier_before: number
        starts_at: string
        reason: string
        created_at: string
        is_rise: boolean
        /**
         * De um aumento: quando o último cliente foi avisado.
         */
        told_at: string | null
      }
    }
    /**
     * Muda o multiplicador de todos os modelos de um fabricante, ou de todos: os que já o têm ficam como estão; um aumento, com 7 dias de aviso
     */
    '/admin/markups': {
      idempotency_key: string
      body: {
        vendor: string | null
        /**
         * Com até quatro decimais.
         */
        markup_multiplier: number
        /**
         * Sem ele, na hora.
         */
        starts_at?: string
        /**
         * Por quê.
         */
        reason: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        changes: {
          id: string
          model_id: string
          markup_multiplier: number
          markup_multiplier_before: number
          starts_at: string
          reason: string
          created_at: string
          is_rise: boolean
          /**
           * De um aumento: quando o último cliente foi avisado.
           */
          told_at: string | null
        }[]
      }
    }
    /**
     * Aceita o preço ou o modelo novo; um preço mais alto começa depois de 7 dias de aviso
     */
    '/admin/price-updates/{id}/approve': {
      path: {
        id: string
      }
      idempotency_key: string
      body: {
        /**
         * A diferença que o operador viu: outra é recusada com 409.
         */
        difference: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        model_id: string
        /**
         * Quando o preço começa; null: não muda preço.
         */
        starts_at: string | null
      }
    }
    /**
     * Mantém o preço em vigor, ou o modelo fora do catálogo, até que o publicado mude
     */
    '/admin/price-updates/{id}/reject': {
      path: {
        id: string
      }
      idempotency_key: string
      body: {
        /**
         * A diferença que o operador viu: outra é recusada com 409.
         */
        difference: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        model_id: string
        /**
         * Quando o preço começa; null: não muda preço.
         */
        starts_at: string | null
      }
    }
    /**
     * Pausa todas as chamadas de modelos, em todos os nós: recebem 503 service_paused
     */
    '/admin/service/pause': {
      body: {
        /**
         * Por quê.
         */
        reason: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        is_paused: boolean
      }
    }
    /**
     * Volta a atender chamadas de modelos
     */
    '/admin/service/resume': {
      /**
       * Tudo certo.
       */
      answer: {
        is_paused: boolean
      }
    }
    /**
     * Acrescenta um provedor, sem reiniciar; os seus modelos com preço conhecido entram no catálogo
     */
    '/admin/upstreams': {
      idempotency_key: string
      body: {
        id: string
        kind:
          | 'openai'
          | 'azure-openai'
          | 'anthropic'
          | 'google'
          | 'cohere'
          | 'deepseek'
          | 'mistral'
          | 'xai'
          | 'groq'
          | 'together'
          | 'fireworks'
          | 'openrouter'
          | 'maritaca'
          | 'vllm'
          | 'ollama'
          | 'lm-studio'
          | 'openai-compatible'
        /**
         * Só de um tipo sem endereço próprio; público, com o segmento da versão.
         */
        base_url?: string
        /**
         * Guardada selada, e nunca mais mostrada.
         */
        api_key?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        kind: string
        /**
         * De onde vem: só os do navegador mudam aqui.
         */
        source: 'file' | 'environment' | 'browser' | 'built_in'
        host: string | null
        key_end: string | null
        state: 'active' | 'draining' | 'paused'
        problem: ('replaced' | 'not_open') | null
        /**
         * Do catálogo, com uma rota por ele.
         */
        models: number
        created_at: string | null
      }
    }
    /**
     * Lê a lista de modelos de um provedor e pede uma resposta, que custa no máximo um centavo de dólar
     */
    '/admin/upstreams/{id}/test': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        models_listed: number | null
        list_fault: string | null
        asked_model: string | null
        answer_fault: string | null
        latency_ms: number | null
      }
    }
    /**
     * Define o câmbio à mão, até 20% longe do que está em vigor; a PTAX de um dia mais novo o substitui
     */
    '/admin/fx-rates': {
      idempotency_key: string
      body: {
        /**
         * BRL por USD, com até quatro decimais.
         */
        rate: number
        /**
         * O dia da taxa; sem ele, hoje em Brasília.
         */
        rate_date?: string
        /**
         * Por quê.
         */
        reason: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        fx_rate: {
          id: number
          /**
           * BRL por USD.
           */
          rate: number
          rate_date: string
          source: string
        }
        in_force: {
          id: number
          /**
           * BRL por USD.
           */
          rate: number
          rate_date: string
          source: string
        }
      }
    }
    /**
     * Retira uma taxa que foi definida à mão; a de antes volta a valer
     */
    '/admin/fx-rates/{id}/withdraw': {
      path: {
        id: string
      }
      idempotency_key: string
      body: {
        /**
         * Por quê.
         */
        reason: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        fx_rate: {
          id: number
          /**
           * BRL por USD.
           */
          rate: number
          rate_date: string
          source: string
        }
        in_force: {
          id: number
          /**
           * BRL por USD.
           */
          rate: number
          rate_date: string
          source: string
        }
      }
    }
    /**
     * Abre um incidente, que todos os clientes veem
     */
    '/admin/incidents': {
      idempotency_key: string
      body: {
        title: string
        message: string
        severity?: 'minor' | 'major' | 'critical'
        /**
         * Ids do catálogo.
         *
         * @maxItems 100
         */
        models?: string[]
        /**
         * Quem faz os modelos; sem eles, os dos modelos dados.
         *
         * @maxItems 100
         */
        providers?: string[]
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        status: 'open' | 'resolved'
        source: 'operator' | 'breaker'
        /**
         * O que um disjuntor vigia.
         */
        subject: string | null
        severity: 'minor' | 'major' | 'critical'
        title: string
        message: string
        models: string[]
        providers: string[]
        opened_at: string
        updated_at: string
        resolved_at: string | null
        updates: {
          status: 'opened' | 'updated' | 'resolved'
          severity: 'minor' | 'major' | 'critical'
          message: string | null
          created_at: string
        }[]
      }
    }
    /**
     * Liga de novo um webhook que falhas desligaram
     */
    '/admin/webhooks/{id}/enable': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        customer_id: string
        is_enabled: boolean
      }
    }
    /**
     * Aprova um reembolso que espera por análise
     */
    '/admin/refunds/{id}/approve': {
      path: {
        id: string
      }
      idempotency_key: string
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * BRL
         */
        amount_brl: number
        /**
         * BRL que já voltaram a quem pagou.
         */
        returned_brl: number
        /**
         * `withdrawal`: desistência, dentro dos 7 dias do CDC (art. 49), sem valor mínimo.
         */
        kind: 'withdrawal' | 'request'
        status: 'requested' | 'approved' | 'processing' | 'done' | 'rejected' | 'failed'
        reason: string | null
        decision_note: string | null
        parts: {
          topup_id: string
          /**
           * BRL
           */
          amount_brl: number
          /**
           * `taken`: voltou por outro caminho, como uma contestação.
           */
          status: 'waiting' | 'sent' | 'done' | 'failed' | 'taken'
        }[]
        created_at: string
        ended_at: string | null
        customer_id: string
        customer_name: string | null
        /**
         * O processador não as devolve: transfira, e diga em `/complete`.
         */
        manual_parts: {
          topup_id: string
          /**
           * BRL
           */
          amount_brl: number
        }[]
        errors: string[]
      }
    }
    /**
     * Recusa um reembolso que espera por análise: o valor volta ao saldo
     */
    '/admin/refunds/{id}/reject': {
      path: {
        id: string
      }
      idempotency_key: string
      body: {
        /**
         * O motivo, para o cliente ler.
         */
        note: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * BRL
         */
        amount_brl: number
        /**
         * BRL que já voltaram a quem pagou.
         */
        returned_brl: number
        /**
         * `withdrawal`: desistência, dentro dos 7 dias do CDC (art. 49), sem valor mínimo.
         */
        kind: 'withdrawal' | 'request'
        status: 'requested' | 'approved' | 'processing' | 'done' | 'rejected' | 'failed'
        reason: string | null
        decision_note: string | null
        parts: {
          topup_id: string
          /**
           * BRL
           */
          amount_brl: number
          /**
           * `taken`: voltou por outro caminho, como uma contestação.
           */
          status: 'waiting' | 'sent' | 'done' | 'failed' | 'taken'
        }[]
        created_at: string
        ended_at: string | null
        customer_id: string
        customer_name: string | null
        /**
         * O processador não as devolve: transfira, e diga em `/complete`.
         */
        manual_parts: {
          topup_id: string
          /**
           * BRL
           */
          amount_brl: number
        }[]
        errors: string[]
      }
    }
    /**
     * Diz que as partes sem devolução pelo processador foram transferidas, ou não puderam ser
     */
    '/admin/refunds/{id}/complete': {
      path: {
        id: string
      }
      idempotency_key: string
      body: {
        outcome: 'done' | 'failed'
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * BRL
         */
        amount_brl: number
        /**
         * BRL que já voltaram a quem pagou.
         */
        returned_brl: number
        /**
         * `withdrawal`: desistência, dentro dos 7 dias do CDC (art. 49), sem valor mínimo.
         */
        kind: 'withdrawal' | 'request'
        status: 'requested' | 'approved' | 'processing' | 'done' | 'rejected' | 'failed'
        reason: string | null
        decision_note: string | null
        parts: {
          topup_id: string
          /**
           * BRL
           */
          amount_brl: number
          /**
           * `taken`: voltou por outro caminho, como uma contestação.
           */
          status: 'waiting' | 'sent' | 'done' | 'failed' | 'taken'
        }[]
        created_at: string
        ended_at: string | null
        customer_id: string
        customer_name: string | null
        /**
         * O processador não as devolve: transfira, e diga em `/complete`.
         */
        manual_parts: {
          topup_id: string
          /**
           * BRL
           */
          amount_brl: number
        }[]
        errors: string[]
      }
    }
    /**
     * Explica uma diferença, com os valores que ela tem agora
     */
    '/admin/reconciliation/differences/{id}/explain': {
      path: {
        id: string
      }
      body: {
        explanation: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        kind:
          | 'payment_without_top_up'
          | 'paid_there_only'
          | 'paid_here_only'
          | 'amount_differs'
          | 'returned_differs'
          | 'paid_twice'
          | 'upstream_cost'
        status: 'open' | 'explained' | 'gone'
        processor: string | null
        processor_payment_id: string | null
        topup_id: string | null
        upstream: string | null
        day: string | null
        ours_brl: number | null
        theirs_brl: number | null
        difference_brl: number | null
        ours_usd: number | null
        theirs_usd: number | null
        difference_usd: number | null
        difference_percent: number | null
        first_seen_at: string
        last_seen_at: string
        resolved_at: string | null
        explanation: string | null
        explained_by: ('operator' | 'admin') | null
        explained_at: string | null
      }
    }
    /**
     * Importa a fatura de um provedor, que substitui o importado dos mesmos dias, e a compara com as nossas cobranças
     */
    '/admin/upstream-costs': {
      body: {
        upstream: string
        /**
         * A exportação de custos do provedor, ou um CSV com day, cost_usd e talvez model; até 31 dias.
         */
        csv: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        upstream: string
        from: string
        to: string
        /**
         * USD
         */
        total_usd: number
        /**
         * Os dias terminados que diferem além da tolerância.
         */
        open_days: number
      }
    }
    /**
     * Anota algo sobre um cliente, que só operadores e a cópia dos dados dele mostram
     */
    '/admin/customers/{id}/notes': {
      path: {
        id: string
      }
      idempotency_key: string
      body: {
        /**
         * Em uma ou mais linhas.
         */
        note: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        note: string
        written_by: string
        written_by_name: string | null
        created_at: string
      }
    }
    /**
     * Suspende uma conta: as chamadas de modelos e as recargas são recusadas
     */
    '/admin/customers/{id}/suspend': {
      path: {
        id: string
      }
      body: {
        /**
         * O motivo, que o cliente lê no painel e no e-mail.
         */
        reason: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        customer_id: string
        is_suspended: boolean
      }
    }
    /**
     * Reativa uma conta suspensa
     */
    '/admin/customers/{id}/reinstate': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        customer_id: string
        is_suspended: boolean
      }
    }
    /**
     * Pede que a verificação em duas etapas de um cliente seja desligada, ou, se outro operador pediu há menos de um dia, desliga-a
     */
    '/admin/customers/{id}/second-factor/reset': {
      path: {
        id: string
      }
      body: {
        /**
         * Por quê.
         */
        reason: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        customer_id: string
        /**
         * waiting: falta outro operador pedir o mesmo.
         */
        second_factor: 'waiting' | 'off'
      }
    }
    /**
     * Pausa uma chave até que a operação a retome
     */
    '/admin/api-keys/{id}/pause': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * Pela operação ou, se não, por quem é dono da chave.
         */
        is_paused: boolean
      }
    }
    /**
     * Levanta a pausa da operação; a de quem é dono da chave continua
     */
    '/admin/api-keys/{id}/resume': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * Pela operação ou, se não, por quem é dono da chave.
         */
        is_paused: boolean
      }
    }
    /**
     * Credita ou debita à mão; acima do limite, também na soma de 24 horas, outra pessoa precisa aprovar
     */
    '/admin/adjustments': {
      body: {
        customer_id: string
        kind: 'credit' | 'debit' | 'promotional_credit'
        /**
         * BRL, com até dois decimais.
         */
        amount_brl: number
        /**
         * Por quê.
         */
        reason: string
        /**
         * Definida por você; uma requisição repetida com ela não lança de novo. Pode vir no cabeçalho idempotency-key.
         */
        reference?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        customer_id: string
        customer_name: string | null
        kind: 'credit' | 'debit' | 'promotional_credit'
        /**
         * BRL
         */
        amount_brl: number
        reason: string
        reference: string
        status: 'pending' | 'posted' | 'rejected'
        requested_by: string
        requested_by_name: string | null
        decided_by: string | null
        decided_by_name: string | null
        created_at: string
        decided_at: string | null
      }
    }
    /**
     * Aprova e lança; quem pediu não aprova
     */
    '/admin/adjustments/{id}/approve': {
      path: {
        id: string
      }
      idempotency_key: string
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        customer_id: string
        customer_name: string | null
        kind: 'credit' | 'debit' | 'promotional_credit'
        /**
         * BRL
         */
        amount_brl: number
        reason: string
        reference: string
        status: 'pending' | 'posted' | 'rejected'
        requested_by: string
        requested_by_name: string | null
        decided_by: string | null
        decided_by_name: string | null
        created_at: string
        decided_at: string | null
      }
    }
    /**
     * Recusa um lançamento que espera; nada é lançado
     */
    '/admin/adjustments/{id}/reject': {
      path: {
        id: string
      }
      idempotency_key: string
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        customer_id: string
        customer_name: string | null
        kind: 'credit' | 'debit' | 'promotional_credit'
        /**
         * BRL
         */
        amount_brl: number
        reason: string
        reference: string
        status: 'pending' | 'posted' | 'rejected'
        requested_by: string
        requested_by_name: string | null
        decided_by: string | null
        decided_by_name: string | null
        created_at: string
        decided_at: string | null
      }
    }
    /**
     * Transcreve um arquivo de áudio
     */
    '/audio/transcriptions': {
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        text: string
        usage: {
          [k: string]: unknown
        }
        /**
         * BRL
         */
        cost_billed_brl: number
        [k: string]: unknown
      }
    }
    /**
     * Transcreve um arquivo de áudio em inglês
     */
    '/audio/translations': {
      /**
       * A resposta do modelo, com o que custou.
       */
      answer: {
        text: string
        usage: {
          [k: string]: unknown
        }
        /**
         * BRL
         */
        cost_billed_brl: number
        [k: string]: unknown
      }
    }
  }
  put: {
    /**
     * Cria ou altera o perfil
     */
    '/me/profile': {
      /**
       * Um campo que não é enviado fica como está; null apaga.
       */
      body: {
        /**
         * Nome completo ou razão social. Sem ele vale, no início, o nome da conta.
         */
        full_name?: string
        cpf_cnpj?: string | null
        phone?: string | null
        postal_code?: string | null
        street?: string | null
        street_number?: string | null
        complement?: string | null
        district?: string | null
        city?: string | null
        state?:
          | (
              | 'AC'
              | 'AL'
              | 'AM'
              | 'AP'
              | 'BA'
              | 'CE'
              | 'DF'
              | 'ES'
              | 'GO'
              | 'MA'
              | 'MG'
              | 'MS'
              | 'MT'
              | 'PA'
              | 'PB'
              | 'PE'
              | 'PI'
              | 'PR'
              | 'RJ'
              | 'RN'
              | 'RO'
              | 'RR'
              | 'RS'
              | 'SC'
              | 'SE'
              | 'SP'
              | 'TO'
            )
          | null
      }
      /**
       * Tudo certo.
       */
      answer: {
        full_name: string
        cpf_cnpj: string
        phone: string | null
        postal_code: string | null
        street: string | null
        street_number: string | null
        complement: string | null
        district: string | null
        city: string | null
        state: string | null
        created_at: string
        updated_at: string
        flags: {
          has_cpf_cnpj: boolean
          can_top_up: boolean
          is_company: boolean
          /**
           * CEP, logradouro, número, município e UF.
           */
          has_address: boolean
          weekly_digest_enabled: boolean
        }
      }
    }
    /**
     * Altera as preferências que forem dadas
     */
    '/me/preferences': {
      body: {
        /**
         * Fuso horário da IANA. Limites de chaves e de equipes que já existem ficam com o fuso em que foram criados.
         */
        timezone?: string
        preferred_locale?: string
        weekly_digest_enabled?: boolean
        low_balance_email_enabled?: boolean
        /**
         * Um e-mail quando um incidente começa e outro quando acaba. Desligado até que a conta o peça.
         */
        incident_email_enabled?: boolean
        stored_responses_days?: number | null
      }
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * Fuso horário da IANA, como America/Sao_Paulo.
         */
        timezone: string
        preferred_locale: string
        weekly_digest_enabled: boolean
        /**
         * Avisos de saldo baixo por e-mail. O de saldo zerado vai sempre, e os webhooks recebem os dois.
         */
        low_balance_email_enabled: boolean
        /**
         * Um e-mail quando um incidente começa e outro quando acaba. Desligado até que a conta o peça.
         */
        incident_email_enabled: boolean
        stored_responses_days: number | null
      }
    }
    /**
     * Altera a proteção de dados pessoais da conta, que vale para as chaves sem uma própria; uma chave não a afrouxa além da sua
     */
    '/me/shield': {
      body: {
        /**
         * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
         */
        action?: 'off' | 'mask' | 'block'
        /**
         * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
         */
        uuids?: 'near_pix' | 'always'
      }
      /**
       * Tudo certo.
       */
      answer: {
        /**
         * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
         */
        action: 'off' | 'mask' | 'block'
        /**
         * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
         */
        uuids: 'near_pix' | 'always'
      }
    }
    /**
     * Altera ou desliga a pausa por gasto fora do padrão; uma chave não a afrouxa
     */
    '/me/spending-guard': {
      body: {
        factor?: number | null
        /**
         * Abaixo deste valor em reais por hora, nada é gasto fora do padrão.
         */
        floor_brl?: number
      }
      /**
       * Tudo certo.
       */
      answer: {
        factor: number | null
        /**
         * Abaixo deste valor em reais por hora, nada é gasto fora do padrão.
         */
        floor_brl: number
      }
    }
    /**
     * Define a recarga automática: quando o saldo fica menor, o cartão é cobrado
     */
    '/topups/automatic': {
      body: {
        is_enabled?: boolean
        /**
         * Abaixo deste saldo, BRL de 0 a 5000.
         */
        threshold_brl: unknown
        /**
         * O valor da recarga, BRL de 20 a 5000.
         */
        amount_brl: unknown
        payment_method_id: string
        /**
         * O máximo por mês, ao menos o valor de uma recarga; null: sem limite.
         */
        monthly_limit_brl?: unknown
      }
      /**
       * Tudo certo.
       */
      answer: {
        is_enabled: boolean
        /**
         * BRL
         */
        threshold_brl: number
        /**
         * BRL
         */
        amount_brl: number
        payment_method_id: string | null
        monthly_limit_brl: number | null
        failures_in_row: number
        disabled_reason: ('card_rejected' | 'payment_method_deleted') | null
        updated_at: string
      }
    }
    /**
     * Escreve um modelo como no arquivo de configuração, sem reiniciar: preços, limites e rotas; um aumento vale depois do aviso aos clientes
     */
    '/admin/models/{id}': {
      path: {
        id: string
      }
      body: {
        display_name?: string
        category?: 'llm' | 'image' | 'video' | 'embedding' | 'audio'
        description?: string | null
        vendor?: string
        /**
         * @minItems 1
         * @maxItems 20
         */
        routes: {
          upstream: string
          /**
           * The model's name at the upstream.
           */
          model: string
          /**
           * Smaller numbers are tried first. Default: the position in the list.
           */
          priority?: number
          /**
           * The share of calls among routes of the same priority.
           */
          weight?: number
          /**
           * Concurrent calls per node.
           */
          concurrency_max?: number
          prices?: {
            /**
             * USD per million tokens.
             */
            input?: string | number
            /**
             * USD per million tokens.
             */
            cached_input?: string | number
            /**
             * USD per million tokens.
             */
            cache_write?: string | number
            /**
             * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
             */
            cache_write_1h?: string | number
            /**
             * USD per million tokens.
             */
            output?: string | number
            /**
             * USD per million tokens.
             */
            reasoning?: string | number
            /**
             * USD per hour of audio, billed by the second.
             */
            audio_hour?: string | number
            /**
             * USD per million characters of a text that is spoken.
             */
            characters?: string | number
            /**
             * USD per million tokens.
             */
            input_audio?: string | number
            /**
             * USD per million tokens.
             */
            output_audio?: string | number
            /**
             * USD per million tokens.
             */
            input_image?: string | number
            /**
             * USD per million tokens.
             */
            output_image?: string | number
            /**
             * USD per search of a reranker: a query with up to 100 documents of up to 500 tokens. In place of tokens.
             */
            search_unit?: string | number
            /**
             * USD per search of the web that the provider runs. If absent, web search is not offered. Needs prices without tiers.
             */
            web_search?: string | number
            /**
             * Keys: "<quality>:<width>x<height>", "<width>x<height>", "<quality>" or "default". The most specific key applies.
             */
            images?: {
              /**
               * USD per image.
               */
              [k: string]: string | number
            }
            /**
             * Keys: "<width>x<height>", or "default" for every other size.
             */
            video_seconds?: {
              /**
               * USD per second of video.
               */
              [k: string]: string | number
            }
            tiers?: {
              above_prompt_tokens: number
              /**
               * USD per million tokens.
               */
              input?: string | number
              /**
               * USD per million tokens.
               */
              cached_input?: string | number
              /**
               * USD per million tokens.
               */
              cache_write?: string | number
              /**
               * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
               */
              cache_write_1h?: string | number
              /**
               * USD per million tokens.
               */
              output?: string | number
              /**
               * USD per million tokens.
               */
              reasoning?: string | number
            }[]
          }
          /**
           * Prices that apply from a date on, or at times of day. Of those that apply, the last one is charged, by the end of the answer; a call is held for at the highest.
           */
          price_schedule?: {
            /**
             * The prices apply from then on, such as 2027-01-01T00:00Z.
             */
            starts_at?: string
            /**
             * UTC, HH:MM.
             */
            from?: string
            /**
             * UTC, HH:MM.
             */
            until?: string
            /**
             * The days of "from" and "until"; 1 is Monday.
             *
             * @minItems 1
             */
            weekdays?: number[]
            /**
             * Hours from UTC to the calendar of "weekdays", such as 8 for Beijing.
             */
            weekdays_utc_offset?: number
            prices: {
              /**
               * USD per million tokens.
               */
              input?: string | number
              /**
               * USD per million tokens.
               */
              cached_input?: string | number
              /**
               * USD per million tokens.
               */
              cache_write?: string | number
              /**
               * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
               */
              cache_write_1h?: string | number
              /**
               * USD per million tokens.
               */
              output?: string | number
              /**
               * USD per million tokens.
               */
              reasoning?: string | number
              /**
               * USD per hour of audio, billed by the second.
               */
              audio_hour?: string | number
              /**
               * USD per million characters of a text that is spoken.
               */
              characters?: string | number
              /**
               * USD per million tokens.
               */
              input_audio?: string | number
              /**
               * USD per million tokens.
               */
              output_audio?: string | number
              /**
               * USD per million tokens.
               */
              input_image?: string | number
              /**
               * USD per million tokens.
               */
              output_image?: string | number
              /**
               * USD per search of a reranker: a query with up to 100 documents of up to 500 tokens. In place of tokens.
               */
              search_unit?: string | number
              /**
               * USD per search of the web that the provider runs. If absent, web search is not offered. Needs prices without tiers.
               */
              web_search?: string | number
              /**
               * Keys: "<quality>:<width>x<height>", "<width>x<height>", "<quality>" or "default". The most specific key applies.
               */
              images?: {
                /**
                 * USD per image.
                 */
                [k: string]: string | number
              }
              /**
               * Keys: "<width>x<height>", or "default" for every other size.
               */
              video_seconds?: {
                /**
                 * USD per second of video.
                 */
                [k: string]: string | number
              }
              tiers?: {
                above_prompt_tokens: number
                /**
                 * USD per million tokens.
                 */
                input?: string | number
                /**
                 * USD per million tokens.
                 */
                cached_input?: string | number
                /**
                 * USD per million tokens.
                 */
                cache_write?: string | number
                /**
                 * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
                 */
                cache_write_1h?: string | number
                /**
                 * USD per million tokens.
                 */
                output?: string | number
                /**
                 * USD per million tokens.
                 */
                reasoning?: string | number
              }[]
            }
          }[]
        }[]
        routing?: 'priority' | 'latency' | 'price'
        prices?: {
          /**
           * USD per million tokens.
           */
          input?: string | number
          /**
           * USD per million tokens.
           */
          cached_input?: string | number
          /**
           * USD per million tokens.
           */
          cache_write?: string | number
          /**
           * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
           */
          cache_write_1h?: string | number
          /**
           * USD per million tokens.
           */
          output?: string | number
          /**
           * USD per million tokens.
           */
          reasoning?: string | number
          /**
           * USD per hour of audio, billed by the second.
           */
          audio_hour?: string | number
          /**
           * USD per million characters of a text that is spoken.
           */
          characters?: string | number
          /**
           * USD per million tokens.
           */
          input_audio?: string | number
          /**
           * USD per million tokens.
           */
          output_audio?: string | number
          /**
           * USD per million tokens.
           */
          input_image?: string | number
          /**
           * USD per million tokens.
           */
          output_image?: string | number
          /**
           * USD per search of a reranker: a query with up to 100 documents of up to 500 tokens. In place of tokens.
           */
          search_unit?: string | number
          /**
           * USD per search of the web that the provider runs. If absent, web search is not offered. Needs prices without tiers.
           */
          web_search?: string | number
          /**
           * Keys: "<quality>:<width>x<height>", "<width>x<height>", "<quality>" or "default". The most specific key applies.
           */
          images?: {
            /**
             * USD per image.
             */
            [k: string]: string | number
          }
          /**
           * Keys: "<width>x<height>", or "default" for every other size.
           */
          video_seconds?: {
            /**
             * USD per second of video.
             */
            [k: string]: string | number
          }
          tiers?: {
            above_prompt_tokens: number
            /**
             * USD per million tokens.
             */
            input?: string | number
            /**
             * USD per million tokens.
             */
            cached_input?: string | number
            /**
             * USD per million tokens.
             */
            cache_write?: string | number
            /**
             * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
             */
            cache_write_1h?: string | number
            /**
             * USD per million tokens.
             */
            output?: string | number
            /**
             * USD per million tokens.
             */
            reasoning?: string | number
          }[]
        }
        /**
         * Prices that apply from a date on, or at times of day. Of those that apply, the last one is charged, by the end of the answer; a call is held for at the highest.
         */
        price_schedule?: {
          /**
           * The prices apply from then on, such as 2027-01-01T00:00Z.
           */
          starts_at?: string
          /**
           * UTC, HH:MM.
           */
          from?: string
          /**
           * UTC, HH:MM.
           */
          until?: string
          /**
           * The days of "from" and "until"; 1 is Monday.
           *
           * @minItems 1
           */
          weekdays?: number[]
          /**
           * Hours from UTC to the calendar of "weekdays", such as 8 for Beijing.
           */
          weekdays_utc_offset?: number
          prices: {
            /**
             * USD per million tokens.
             */
            input?: string | number
            /**
             * USD per million tokens.
             */
            cached_input?: string | number
            /**
             * USD per million tokens.
             */
            cache_write?: string | number
            /**
             * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
             */
            cache_write_1h?: string | number
            /**
             * USD per million tokens.
             */
            output?: string | number
            /**
             * USD per million tokens.
             */
            reasoning?: string | number
            /**
             * USD per hour of audio, billed by the second.
             */
            audio_hour?: string | number
            /**
             * USD per million characters of a text that is spoken.
             */
            characters?: string | number
            /**
             * USD per million tokens.
             */
            input_audio?: string | number
            /**
             * USD per million tokens.
             */
            output_audio?: string | number
            /**
             * USD per million tokens.
             */
            input_image?: string | number
            /**
             * USD per million tokens.
             */
            output_image?: string | number
            /**
             * USD per search of a reranker: a query with up to 100 documents of up to 500 tokens. In place of tokens.
             */
            search_unit?: string | number
            /**
             * USD per search of the web that the provider runs. If absent, web search is not offered. Needs prices without tiers.
             */
            web_search?: string | number
            /**
             * Keys: "<quality>:<width>x<height>", "<width>x<height>", "<quality>" or "default". The most specific key applies.
             */
            images?: {
              /**
               * USD per image.
               */
              [k: string]: string | number
            }
            /**
             * Keys: "<width>x<height>", or "default" for every other size.
             */
            video_seconds?: {
              /**
               * USD per second of video.
               */
              [k: string]: string | number
            }
            tiers?: {
              above_prompt_tokens: number
              /**
               * USD per million tokens.
               */
              input?: string | number
              /**
               * USD per million tokens.
               */
              cached_input?: string | number
              /**
               * USD per million tokens.
               */
              cache_write?: string | number
              /**
               * USD per million tokens written to a one-hour cache. If absent, the one-hour cache is not offered.
               */
              cache_write_1h?: string | number
              /**
               * USD per million tokens.
               */
              output?: string | number
              /**
               * USD per million tokens.
               */
              reasoning?: string | number
            }[]
          }
        }[]
        context_tokens?: number
        max_output_tokens?: number
        image_tokens_max?: number
        /**
         * The most tokens that the upstream adds to every prompt and bills. The hold covers them.
         */
        hidden_prompt_tokens_max?: number
        supports_tools?: boolean
        can_reason?: boolean
        /**
         * The day (UTC, YYYY-MM-DD) on which the maker ends the model. Customers are notified; calls go on while an upstream answers. Null: it does not end, whatever the maker or a list says.
         */
        ends_on?: string | null
        embedding?: {
          dimensions: number
          can_shorten?: boolean
        }
        /**
         * A model of the category audio that speaks (/v1/audio/speech).
         */
        speech?: boolean
        /**
         * A model of the category embedding that ranks documents (/v1/rerank).
         */
        rerank?: boolean
        /**
         * A model of the category embedding that judges content (/v1/moderations). Its "input" may be 0.
         */
        moderation?: boolean
        image?: {
          sizes?: string[]
          /**
           * The most output tokens of one image, by quality.
           */
          tokens_max?: {
            [k: string]: number
          }
        }
        audio?: {
          seconds_min?: number
          seconds_max?: number
          tokens_per_second_max?: number
          has_timestamps?: boolean
        }
        video?: {
          /**
           * The lengths that may be asked for; the first is the default.
           *
           * @minItems 1
           */
          seconds?: number[]
          /**
           * The sizes that may be asked for; the first is the default.
           *
           * @minItems 1
           */
          sizes?: string[]
        }
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        is_new: boolean
        /**
         * Quando valem os preços escritos; null: já valiam, ou o modelo é novo.
         */
        prices_from: string | null
      }
    }
  }
  patch: {
    /**
     * Altera o que for dado; o que ainda não foi enviado vai para o endereço novo
     */
    '/usage/destinations/{id}': {
      path: {
        id: string
      }
      body: {
        /**
         * https, de um endereço público. langfuse: o da instância, como https://cloud.langfuse.com; otlp: o endpoint do coletor, ao qual se acrescenta /v1/traces.
         */
        url?: string
        /**
         * langfuse: a chave pública do projeto.
         */
        public_key?: string
        /**
         * langfuse: a chave secreta do projeto; nunca mais é mostrada.
         */
        secret_key?: string
        /**
         * otlp: cabeçalhos de cada envio, como authorization; nunca mais são mostrados.
         */
        headers?: {
          [k: string]: string
        }
        /**
         * Envia também prompts e respostas, mas só de chamadas a /v1/responses que a conta armazena. Padrão: false.
         */
        includes_content?: boolean
        /**
         * true liga de novo.
         */
        is_enabled?: boolean
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        kind: 'langfuse' | 'otlp'
        url: string
        public_key: string | null
        header_names: string[]
        includes_content: boolean
        is_enabled: boolean
        disabled_at: string | null
        /**
         * customer: por você; failing: nada foi aceito por três dias.
         */
        disabled_reason: ('customer' | 'failing') | null
        created_at: string
        /**
         * Cobranças aceitas pelo destino.
         */
        sent: number
        /**
         * Cobranças que o destino recusou de vez.
         */
        rejected: number
        /**
         * Cobranças não enviadas em sete dias, e por isso descartadas.
         */
        given_up: number
        last_success_at: string | null
        /**
         * Falhas seguidas.
         */
        failures: number
        failing_since: string | null
        last_failed_at: string | null
        last_error:
          | (
              | 'timeout'
              | 'refused_address'
              | 'https_required'
              | 'connection_failed'
              | 'redirect'
              | 'unauthorized'
              | 'not_found'
              | 'http_status'
              | 'spans_refused'
              | 'batch_refused'
              | 'batch_too_large'
              | 'secret_unreadable'
            )
          | null
        last_http_status: number | null
        last_answer: string | null
        /**
         * Depois de uma falha.
         */
        next_try_at: string | null
        test: {
          asked_at: string
          tested_at: string | null
          error:
            | (
                | 'timeout'
                | 'refused_address'
                | 'https_required'
                | 'connection_failed'
                | 'redirect'
                | 'unauthorized'
                | 'not_found'
                | 'http_status'
                | 'spans_refused'
                | 'batch_refused'
                | 'batch_too_large'
                | 'secret_unreadable'
              )
            | null
        } | null
      }
    }
    /**
     * Altera o que for dado; null retira a restrição
     */
    '/api-keys/{id}': {
      path: {
        id: string
      }
      body: {
        /**
         * Texto de 3 a 50 caracteres.
         */
        name?: unknown
        /**
         * Lista de ids do catálogo, ao menos um válido; obrigatória numa chave nova. Os que não existem são ignorados: a resposta traz os que valem. Com ["*"], a chave chama todos os modelos, também os que vierem depois.
         */
        model_ids?: unknown
        ip_allowlist?: string[] | null
        /**
         * Sem ele, 120 numa chave nova.
         */
        requests_per_minute?: number
        tokens_per_minute?: number | null
        budget?: {
          /**
           * USD, com até 6 casas decimais.
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
        } | null
        minute_cap_brl?: number | null
        day_cap_brl?: number | null
        task_cap_brl?: number | null
        calls_at_once?: number | null
        cache_seconds?: number | null
        /**
         * Marca o começo das conversas para o cache do provedor, nos modelos que só guardam o que vem marcado (cache_control, como os da Anthropic): escrever custa mais uma vez, e ler, muito menos. Vale para prompts a partir de uns 1.024 tokens e sem marcas do próprio cliente.
         */
        auto_cache?: boolean
        expires_at?: string | null
        /**
         * O que a chave pode: calls, chamadas aos modelos e GET /usage; account, também o autoatendimento; manage, também chaves, cartões salvos, webhooks, equipes e a exclusão da conta. manage só é dado numa sessão do painel que acabou de confirmar a identidade. operator, só de quem opera o serviço, lê as rotas /admin e não faz mais nada; vale no máximo 90 dias.
         */
        scope?: 'calls' | 'account' | 'manage' | 'operator'
        /**
         * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
         */
        shield?: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        } | null
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        last_four: string
        status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
        scope: 'calls' | 'account' | 'manage' | 'operator'
        model_ids: string[] | null
        ip_allowlist: string[] | null
        requests_per_minute: number
        tokens_per_minute: number | null
        /**
         * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
         */
        shield: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        } | null
        budget: {
          /**
           * USD
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
          /**
           * USD
           */
          spent_usd: number
        } | null
        minute_cap_brl: number | null
        minute_cap_used_brl: number | null
        day_cap_brl: number | null
        day_cap_used_brl: number | null
        task_cap_brl: number | null
        calls_at_once: number | null
        cache_seconds: number | null
        auto_cache: boolean
        team_id: string | null
        last_used_at: string | null
        created_at: string
        expires_at: string | null
        paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
        revoked_at: string | null
      }
    }
    /**
     * Altera um prompt salvo; outro texto é outra versão
     */
    '/me/prompts/{id}': {
      path: {
        /**
         * UUID
         */
        id: string
      }
      body: {
        name?: string
        /**
         * O texto; variáveis se escrevem {{nome}}.
         */
        body?: string
        description?: string | null
        /**
         * Todas as do texto, e outras. Sem este campo: as do texto.
         *
         * @maxItems 100
         */
        variables?: string[]
        /**
         * @maxItems 20
         */
        tags?: string[]
        default_model?: string | null
        /**
         * O que vale nas chamadas com o modelo "@preset/<slug>". Os campos da própria chamada valem mais.
         */
        parameters?: {
          /**
           * O máximo da resposta, também para quem pede mais.
           */
          max_tokens?: number
          temperature?: number
          top_p?: number
          /**
           * Quem pode responder, como em POST /chat/completions.
           */
          provider?: {
            [k: string]: unknown
          }
        }
        /**
         * Guardada com a versão nova, se o texto mudou.
         */
        change_note?: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        slug: string
        name: string
        description: string | null
        body: string
        variables: string[]
        tags: string[]
        default_model: string | null
        /**
         * O que vale nas chamadas com o modelo "@preset/<slug>". Os campos da própria chamada valem mais.
         */
        parameters: {
          /**
           * O máximo da resposta, também para quem pede mais.
           */
          max_tokens?: number
          temperature?: number
          top_p?: number
          /**
           * Quem pode responder, como em POST /chat/completions.
           */
          provider?: {
            [k: string]: unknown
          }
        }
        /**
         * Cresce quando o texto muda.
         */
        version: number
        created_at: string
        updated_at: string
      }
    }
    /**
     * Altera o nome de uma equipe, ou o limite mensal, que só o titular altera
     */
    '/me/teams/{id}': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
      }
      body: {
        name?: string
        monthly_cap_brl?: number | null
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        role: 'owner' | 'admin' | 'member'
        /**
         * O nome de quem é dono; só a inicial para os outros.
         */
        owner: string
        monthly_cap_brl: number | null
        /**
         * BRL
         */
        spent_this_month_brl: number
        /**
         * BRL, reservados por requisições em andamento.
         */
        held_brl: number
        remaining_brl: number | null
        requests_this_month: number
        tokens_this_month: number
        /**
         * Sem contar quem é dono.
         */
        member_count: number
        /**
         * As chaves que não foram revogadas.
         */
        key_count: number
        created_at: string
      }
    }
    /**
     * Altera o papel de quem é membro
     */
    '/me/teams/{id}/members/{customerId}': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
        /**
         * UUID de quem é membro
         */
        customerId: string
      }
      body: {
        role: 'admin' | 'member'
      }
      /**
       * Tudo certo.
       */
      answer: {
        customer_id: string
        role: 'admin' | 'member'
      }
    }
    /**
     * Altera o que for dado; com outro limite o alerta pode disparar de novo
     */
    '/me/alerts/{id}': {
      path: {
        id: string
      }
      body: {
        name?: string
        /**
         * Em BRL (balance_below, daily_spend, monthly_spend: 0.01 a 1000000), em dias inteiros (runway_days: 1 a 365) ou em % das chamadas da última hora (error_rate: 1 a 100). Gastos e erros disparam ao chegar ao limite, saldo e dias ao ficar abaixo dele.
         */
        threshold?: number
        /**
         * @minItems 1
         * @maxItems 2
         */
        channels?: ('email' | 'webhook')[]
        is_enabled?: boolean
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        kind: 'balance_below' | 'daily_spend' | 'monthly_spend' | 'runway_days' | 'error_rate'
        threshold: number
        api_key_id: string | null
        team_id: string | null
        /**
         * @minItems 1
         * @maxItems 2
         */
        channels: ('email' | 'webhook')[]
        is_enabled: boolean
        /**
         * triggered: disparou, e só dispara de novo depois de voltar 10% além do limite; gastos, no próximo dia ou mês.
         */
        state: 'ok' | 'triggered'
        last_fired_at: string | null
        last_value: number | null
        created_at: string
        updated_at: string
      }
    }
    /**
     * Altera o que for dado; mensagens na fila vão para o endereço novo
     */
    '/webhooks/{id}': {
      path: {
        id: string
      }
      body: {
        /**
         * https, de um endereço público.
         */
        url?: string
        description?: string | null
        event_types?:
          | (
              | 'topup.created'
              | 'topup.paid'
              | 'topup.expired'
              | 'topup.failed'
              | 'topup.refunded'
              | 'topup.chargeback'
              | 'topup.automatic_disabled'
              | 'balance.low'
              | 'balance.depleted'
              | 'balance.restored'
              | 'key.created'
              | 'key.revoked'
              | 'key.paused'
              | 'key.resumed'
              | 'refund.requested'
              | 'refund.completed'
              | 'refund.rejected'
              | 'refund.failed'
              | 'alert.triggered'
              | 'referral.rewarded'
              | 'price.changed'
              | 'model.ending'
              | 'account.suspended'
              | 'account.reinstated'
              | 'webhook.test'
            )[]
          | null
        /**
         * true liga de novo o que foi desligado.
         */
        is_enabled?: boolean
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        url: string
        description: string | null
        event_types:
          | (
              | 'topup.created'
              | 'topup.paid'
              | 'topup.expired'
              | 'topup.failed'
              | 'topup.refunded'
              | 'topup.chargeback'
              | 'topup.automatic_disabled'
              | 'balance.low'
              | 'balance.depleted'
              | 'balance.restored'
              | 'key.created'
              | 'key.revoked'
              | 'key.paused'
              | 'key.resumed'
              | 'refund.requested'
              | 'refund.completed'
              | 'refund.rejected'
              | 'refund.failed'
              | 'alert.triggered'
              | 'referral.rewarded'
              | 'price.changed'
              | 'model.ending'
              | 'account.suspended'
              | 'account.reinstated'
              | 'webhook.test'
            )[]
          | null
        is_enabled: boolean
        disabled_at: string | null
        /**
         * customer: por você; gone: o destino respondeu 410; failing: falhou da primeira à última tentativa.
         */
        disabled_reason: ('customer' | 'gone' | 'failing') | null
        /**
         * Quando falhou a primeira tentativa depois do último sucesso.
         */
        failing_since: string | null
        created_at: string
      }
    }
    /**
     * Troca a chave de um provedor acrescentado aqui, ou o seu estado; chamadas em curso terminam
     */
    '/admin/upstreams/{id}': {
      path: {
        id: string
      }
      body: {
        /**
         * Guardada selada, e nunca mais mostrada.
         */
        api_key?: string
        /**
         * draining e paused: não recebe chamadas novas.
         */
        state?: 'active' | 'draining' | 'paused'
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        kind: string
        /**
         * De onde vem: só os do navegador mudam aqui.
         */
        source: 'file' | 'environment' | 'browser' | 'built_in'
        host: string | null
        key_end: string | null
        state: 'active' | 'draining' | 'paused'
        problem: ('replaced' | 'not_open') | null
        /**
         * Do catálogo, com uma rota por ele.
         */
        models: number
        created_at: string | null
      }
    }
    /**
     * Diz como um incidente segue, ou que acabou
     */
    '/admin/incidents/{id}': {
      path: {
        id: string
      }
      body: {
        title?: string
        message?: string
        severity?: 'minor' | 'major' | 'critical'
        /**
         * Encerra.
         */
        status?: 'resolved'
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        status: 'open' | 'resolved'
        source: 'operator' | 'breaker'
        /**
         * O que um disjuntor vigia.
         */
        subject: string | null
        severity: 'minor' | 'major' | 'critical'
        title: string
        message: string
        models: string[]
        providers: string[]
        opened_at: string
        updated_at: string
        resolved_at: string | null
        updates: {
          status: 'opened' | 'updated' | 'resolved'
          severity: 'minor' | 'major' | 'critical'
          message: string | null
          created_at: string
        }[]
      }
    }
  }
  delete: {
    /**
     * Apaga uma resposta guardada, que assim não pode mais ser continuada
     */
    '/responses/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'response'
        deleted: true
      }
    }
    /**
     * Apaga um arquivo guardado
     */
    '/files/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'file'
        deleted: true
      }
    }
    /**
     * Apaga um lote de Messages que terminou, com os resultados
     */
    '/messages/batches/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        type: 'message_batch_deleted'
      }
    }
    /**
     * Apaga um vídeo que terminou
     */
    '/videos/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        object: 'video.deleted'
        deleted: true
      }
    }
    /**
     * Exclui um destino de uso, com seus segredos; nada mais é enviado
     */
    '/usage/destinations/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        kind: 'langfuse' | 'otlp'
        url: string
        public_key: string | null
        header_names: string[]
        includes_content: boolean
        is_enabled: boolean
        disabled_at: string | null
        /**
         * customer: por você; failing: nada foi aceito por três dias.
         */
        disabled_reason: ('customer' | 'failing') | null
        created_at: string
        /**
         * Cobranças aceitas pelo destino.
         */
        sent: number
        /**
         * Cobranças que o destino recusou de vez.
         */
        rejected: number
        /**
         * Cobranças não enviadas em sete dias, e por isso descartadas.
         */
        given_up: number
        last_success_at: string | null
        /**
         * Falhas seguidas.
         */
        failures: number
        failing_since: string | null
        last_failed_at: string | null
        last_error:
          | (
              | 'timeout'
              | 'refused_address'
              | 'https_required'
              | 'connection_failed'
              | 'redirect'
              | 'unauthorized'
              | 'not_found'
              | 'http_status'
              | 'spans_refused'
              | 'batch_refused'
              | 'batch_too_large'
              | 'secret_unreadable'
            )
          | null
        last_http_status: number | null
        last_answer: string | null
        /**
         * Depois de uma falha.
         */
        next_try_at: string | null
        test: {
          asked_at: string
          tested_at: string | null
          error:
            | (
                | 'timeout'
                | 'refused_address'
                | 'https_required'
                | 'connection_failed'
                | 'redirect'
                | 'unauthorized'
                | 'not_found'
                | 'http_status'
                | 'spans_refused'
                | 'batch_refused'
                | 'batch_too_large'
                | 'secret_unreadable'
              )
            | null
        } | null
      }
    }
    /**
     * Fecha o endereço público de uma conta
     */
    '/me/public-bills/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        /**
         * Quem tem este endereço lê a conta, sem entrar.
         */
        url: string
        usage_event_id: string | null
        session_id: string | null
        created_at: string
      }
    }
    /**
     * Revoga uma chave, para sempre
     */
    '/api-keys/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        last_four: string
        status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
        scope: 'calls' | 'account' | 'manage' | 'operator'
        model_ids: string[] | null
        ip_allowlist: string[] | null
        requests_per_minute: number
        tokens_per_minute: number | null
        /**
         * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
         */
        shield: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        } | null
        budget: {
          /**
           * USD
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
          /**
           * USD
           */
          spent_usd: number
        } | null
        minute_cap_brl: number | null
        minute_cap_used_brl: number | null
        day_cap_brl: number | null
        day_cap_used_brl: number | null
        task_cap_brl: number | null
        calls_at_once: number | null
        cache_seconds: number | null
        auto_cache: boolean
        team_id: string | null
        last_used_at: string | null
        created_at: string
        expires_at: string | null
        paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
        revoked_at: string | null
      }
    }
    /**
     * Apaga um prompt salvo e as suas versões
     */
    '/me/prompts/{id}': {
      path: {
        /**
         * UUID
         */
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        deleted: true
      }
    }
    /**
     * Exclui a conta, para sempre
     */
    '/me': {
      body: {
        /**
         * O e-mail da conta; o nome, onde ela não tem e-mail.
         */
        confirm: string
        /**
         * Abre mão do saldo que resta, em vez de pedir reembolso.
         */
        waive_balance?: boolean
      }
      /**
       * Tudo certo.
       */
      answer: {
        deleted_at: string
        /**
         * BRL
         */
        waived_brl: number
      }
    }
    /**
     * Apaga uma equipe e revoga as suas chaves e os seus convites
     */
    '/me/teams/{id}': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        deleted: true
      }
    }
    /**
     * Tira alguém da equipe, ou sai dela, e revoga as chaves que essa pessoa criou
     */
    '/me/teams/{id}/members/{customerId}': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
        /**
         * UUID de quem é membro
         */
        customerId: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        customer_id: string
        removed: true
      }
    }
    /**
     * Revoga um convite em aberto
     */
    '/me/teams/{id}/invitations/{invitationId}': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
        /**
         * UUID do convite
         */
        invitationId: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        revoked: true
      }
    }
    /**
     * Recusa um convite feito para o próprio e-mail
     */
    '/me/invitations/{id}': {
      path: {
        /**
         * UUID do convite
         */
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        declined: true
      }
    }
    /**
     * Revoga uma chave da equipe; membros revogam só as que criaram
     */
    '/me/teams/{id}/keys/{keyId}': {
      path: {
        /**
         * UUID da equipe
         */
        id: string
        /**
         * UUID da chave
         */
        keyId: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        last_four: string
        status: 'active' | 'suspended' | 'paused' | 'revoked' | 'expired'
        scope: 'calls' | 'account' | 'manage' | 'operator'
        model_ids: string[] | null
        ip_allowlist: string[] | null
        requests_per_minute: number
        tokens_per_minute: number | null
        /**
         * Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).
         */
        shield: {
          /**
           * off: os textos vão como estão; mask: os dados pessoais vão trocados por marcadores e voltam na resposta; block: a chamada é recusada.
           */
          action: 'off' | 'mask' | 'block'
          /**
           * Quando um UUID conta como chave Pix aleatória: near_pix, se o texto fala de Pix ao lado dele; always, sempre.
           */
          uuids: 'near_pix' | 'always'
        } | null
        budget: {
          /**
           * USD
           */
          limit_usd: number
          period: 'day' | 'month' | 'lifetime'
          /**
           * USD
           */
          spent_usd: number
        } | null
        minute_cap_brl: number | null
        minute_cap_used_brl: number | null
        day_cap_brl: number | null
        day_cap_used_brl: number | null
        task_cap_brl: number | null
        calls_at_once: number | null
        cache_seconds: number | null
        auto_cache: boolean
        team_id: string | null
        last_used_at: string | null
        created_at: string
        expires_at: string | null
        paused_reason: ('anomaly' | 'leaked' | 'owner' | 'operator') | null
        revoked_at: string | null
        created_by: string | null
      }
    }
    /**
     * Exclui um alerta
     */
    '/me/alerts/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        name: string
        kind: 'balance_below' | 'daily_spend' | 'monthly_spend' | 'runway_days' | 'error_rate'
        threshold: number
        api_key_id: string | null
        team_id: string | null
        /**
         * @minItems 1
         * @maxItems 2
         */
        channels: ('email' | 'webhook')[]
        is_enabled: boolean
        /**
         * triggered: disparou, e só dispara de novo depois de voltar 10% além do limite; gastos, no próximo dia ou mês.
         */
        state: 'ok' | 'triggered'
        last_fired_at: string | null
        last_value: number | null
        created_at: string
        updated_at: string
      }
    }
    /**
     * Exclui um webhook; o que está na fila não é mais enviado
     */
    '/webhooks/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        url: string
        description: string | null
        event_types:
          | (
              | 'topup.created'
              | 'topup.paid'
              | 'topup.expired'
              | 'topup.failed'
              | 'topup.refunded'
              | 'topup.chargeback'
              | 'topup.automatic_disabled'
              | 'balance.low'
              | 'balance.depleted'
              | 'balance.restored'
              | 'key.created'
              | 'key.revoked'
              | 'key.paused'
              | 'key.resumed'
              | 'refund.requested'
              | 'refund.completed'
              | 'refund.rejected'
              | 'refund.failed'
              | 'alert.triggered'
              | 'referral.rewarded'
              | 'price.changed'
              | 'model.ending'
              | 'account.suspended'
              | 'account.reinstated'
              | 'webhook.test'
            )[]
          | null
        is_enabled: boolean
        disabled_at: string | null
        /**
         * customer: por você; gone: o destino respondeu 410; failing: falhou da primeira à última tentativa.
         */
        disabled_reason: ('customer' | 'gone' | 'failing') | null
        /**
         * Quando falhou a primeira tentativa depois do último sucesso.
         */
        failing_since: string | null
        created_at: string
      }
    }
    /**
     * Exclui um cartão; a recarga automática com ele é desativada
     */
    '/payment-methods/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        brand: string | null
        last_four: string
        holder_name: string
        expiry_month: number
        expiry_year: number
        created_at: string
      }
    }
    /**
     * Exclui a recarga automática; a que já começou continua
     */
    '/topups/automatic': {
      /**
       * Tudo certo.
       */
      answer: {
        is_enabled: boolean
        /**
         * BRL
         */
        threshold_brl: number
        /**
         * BRL
         */
        amount_brl: number
        payment_method_id: string | null
        monthly_limit_brl: number | null
        failures_in_row: number
        disabled_reason: ('card_rejected' | 'payment_method_deleted') | null
        updated_at: string
      }
    }
    /**
     * Exclui um modelo escrito aqui; um que existe sem isso volta a ser como era
     */
    '/admin/models/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        deleted: true
      }
    }
    /**
     * Cancela uma mudança de multiplicador que ainda não começou
     */
    '/admin/models/{id}/markup/{changeId}': {
      path: {
        id: string
        changeId: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        model_id: string
        markup_multiplier: number
        markup_multiplier_before: number
        starts_at: string
        reason: string
        created_at: string
        is_rise: boolean
        /**
         * De um aumento: quando o último cliente foi avisado.
         */
        told_at: string | null
      }
    }
    /**
     * Exclui um provedor acrescentado aqui e apaga a sua chave; chamadas em curso terminam
     */
    '/admin/upstreams/{id}': {
      path: {
        id: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        deleted: true
      }
    }
    /**
     * Exclui uma anotação sobre um cliente
     */
    '/admin/customers/{id}/notes/{noteId}': {
      path: {
        id: string
        noteId: string
      }
      /**
       * Tudo certo.
       */
      answer: {
        id: string
        deleted: true
      }
    }
  }
}
